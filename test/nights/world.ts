import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { App } from '../../jobs/app.js';
import { exitCode } from '../../jobs/exit-code.js';
import { followUpRuns } from '../../jobs/follow-up.js';
import { loadConfig } from '../../src/config/load.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import type { Run } from '../../src/rules/run.js';
import { type Engine, parentFolder } from '../crash/live.js';
import { createOutside } from '../crash/outside.js';
import { createSftpDouble } from '../crash/sftp-double.js';
import { sqlite } from '../crash/sqlite-engine.js';
import { earliestOn, endOf, findMorning, firstAfternoon, isoOf } from './calendar.js';
import { createChannels } from './channels.js';
import type { Stage } from './events/event.js';
import { isAwaitingResult } from './events/look.js';
import { workFor } from './events/review.js';
import { type Guest, surname } from './guests.js';
import type { Heard } from './heard.js';
import { holdClock } from './held-clock.js';
import { type Event, kindOf } from './history.js';
import { bookingOf, type Entry, identify, recall } from './journal.js';
import { keepLedger, type LedgerCopy } from './kept-ledger.js';
import { createMappingTable } from './mappings.js';
import { type Answer, createProduct, type Work } from './product.js';
import type { ResultFile } from './results.js';
import { watchSending } from './sending-watch.js';
import { isDueBySchedule } from './serve-due.js';
import { createNightService } from './service.js';
import { settings } from './settings.js';
import { toCsv } from './source.js';
import { createStoredFiles } from './stored-files.js';
import { createTelling } from './tell-people.js';
import { beginTroubledLife, refused, type Trouble } from './trouble.js';
import { createWrittenResults, watchDownloads } from './written-results.js';

/** The whole product in one process: its commands work in it as they do in production, with doubles of the outside. */
export interface World {
  /** All that happened, and what of it the ledger can know. */
  readonly everything: readonly Entry[];
  readonly journal: readonly Entry[];
  readonly heard: readonly Heard[];
  readonly ledger: Ledger;
  readonly app: App;
  /** Lets an event happen. Returns what went wrong on the way, if the history wants something to; undefined for nothing. */
  live(event: Event): Promise<string | undefined>;
  /** Performs a command with `--json`. One that is refused, as some histories ask for, changes nothing and prints nothing. */
  ask(...words: string[]): Promise<Answer>;
  /** Both channels work, and hear what they have not heard. */
  tellTheRest(): Promise<void>;
  /** Lets time pass until then. Returns when that is, and whether `serve` would work on that day. */
  askNextMorning(day: string): Promise<{ readonly morning: number; readonly isDue: boolean }>;
  /** The file that `run --metrics-file` writes at its end. */
  readMetrics(): Promise<string>;
  /** What must never happen and did, since it was asked the last time: see `noteSent` and `watchOutput`. */
  takeFaults(): readonly string[];
  /** Where a text stands: in files of ours, or of the SFTP server. */
  search(text: string): readonly string[];
  /** Lets so much time pass that all names are due, and has them removed. Returns where some are left. */
  forgetNames(): Promise<readonly string[]>;
  /** Closes it; nothing of it stays. */
  close(): Promise<void>;
}

const [hourMs, dayMs] = [3_600_000, 86_400_000];
/** Further than any lease lasts. */
const jumpMs = 2 * hourMs;
/** All names are due then: see `guestNameDays`. */
const longAfterMs = 60 * dayMs;
/** Until somebody runs a day again that went wrong, which happens so often at most. */
const [awayMs, mostRepairs] = [900_000, 3];

interface WorldSettings {
  /** Of the ledger. */
  readonly engine?: Engine;
  /** Whether copies of the ledger may be restored. */
  readonly hasCopies?: boolean;
}

/** Opens a world on the afternoon of its first day. Its time is that of the process until it is closed. */
export async function openWorld({ engine = sqlite, hasCopies = false }: WorldSettings = {}): Promise<World> {
  const folder = mkdtempSync(join(parentFolder, 'nights-'));
  const held = holdClock(firstAfternoon);
  const place = await engine.openPlace(folder);
  writeFileSync(join(folder, 'hotel-review.yaml'), stringify({ ...settings, ledger: place.address }));
  const config = await loadConfig({ file: join(folder, 'hotel-review.yaml'), env: {} });
  const clock = () => Date.now();
  const outside = {
    ...createOutside(firstAfternoon),
    clock,
    reach: (instant: number) => held.set(Math.max(clock(), instant)),
  };
  let life = beginTroubledLife();
  const stopCounting = engine.countCommits(() => ({ life, onCommit() {} }));
  const ledgers = keepLedger({ folder, config, place, clock, hasCopies });
  const sftp = createSftpDouble(outside);
  const files = createStoredFiles(folder, sftp);
  const journal: Entry[] = [];
  const heard: Heard[] = [];
  const channels = createChannels({ outside, onTold: (told) => void heard.push(told) });
  const telling = createTelling({
    outside,
    channels,
    heard,
    current: () => ({ life, ledger: ledgers.get() }),
  });
  /** What lies in the export of each day. */
  const sources = new Map<number, readonly Guest[]>();
  const exportOf = (which: number) => join(folder, `bookings-${isoOf(which)}.csv`);
  let nextResults: readonly ResultFile[] = [];
  let isFollowed = false;
  let workers = 1;
  const written = createWrittenResults();
  /** By day, the run that awaits a result. */
  let awaiting = new Map<number, string>();
  ledgers.copy(0, awaiting);
  /** The number of the day that is worked on, and its run. */
  let [day, run] = [0, ''];
  let ids = 0;
  let faults: string[] = [];
  const onFault = (fault: string) => void faults.push(fault);
  const sending = watchSending({ journal, ledgers, life: () => life, onFault });

  const service = createNightService(sftp, clock, {
    onSent: (by, bookings) => sending.note(day, run, by, bookings),
    onWritten: written.add,
    nextResults: () => nextResults,
    day: () => day,
    run: () => run,
  });
  const mappings = createMappingTable(clock);
  const product = createProduct({
    ...{ folder, config, outside, service, mappings, ledgers, isSerial: !engine.commitsAtOnce },
    sftp: watchDownloads(sftp, (path) => written.noteRead(path, run)),
    currentLife: () => life,
    workers: () => workers,
    createRunId() {
      ids += 1;
      run = `${isoOf(day).replaceAll('-', '')}-run${ids}`;
      return run;
    },
    tell: (app) => telling.tell(app, isoOf(day)),
    async onConnect() {
      if (isFollowed) await followUpRuns(product.createApp());
    },
  });
  const { createApp } = product;
  const findLatest = async () => ledgers.find()?.runs.latest(isoOf(day));

  /** Nobody's name is in what people read of a command, which may be kept as a log. */
  async function perform(work: Work) {
    const printed = await product.perform(work);
    if (printed.stderr.includes(surname))
      onFault(`a name in what ${JSON.stringify(work)} wrote to standard error`);
    return printed;
  }

  async function ask(...given: string[]): Promise<Answer> {
    const { code, stdout, stderr } = await perform(given);
    if (code === exitCode.usage) return { code, json: {} };
    if (stdout === '') throw new Error(`${given.join(' ')} printed nothing: ${stderr}`);
    return { code, json: JSON.parse(stdout) };
  }

  /** One process from its start to its end. After its death, the ledger is opened as that left it. Returns what went wrong. */
  async function liveProcess(work: Work, trouble?: Trouble): Promise<string | undefined> {
    run = (await findLatest())?.id ?? '';
    ledgers.noteLife();
    const own = beginTroubledLife(trouble, () => outside.reach(clock() + jumpMs));
    life = own;
    // A person and the hook may try everything again, the schedule only what may pass by itself.
    if (!('request' in work && work.request.by === 'schedule')) sending.refused.delete(run);
    try {
      await perform(work);
    } catch (error) {
      if (own.struck === undefined) throw error;
    } finally {
      if (own.isOver) await ledgers.bury();
      life = beginTroubledLife();
      if (own.struck !== undefined) sending.troubled.add(run);
      if (own.struck === refused) sending.refused.add(run);
      if (own.isOver && ledgers.find()) await telling.noteRuns(createApp(), isoOf(day), false);
    }
    return own.struck;
  }

  /** Works on the day, and after trouble as often as it takes. Returns what went wrong. */
  async function workOn(work: Work, trouble: Trouble | undefined): Promise<string | undefined> {
    const before = (await findLatest())?.id;
    const struck = await liveProcess(work, trouble);
    for (let repairs = 0; struck !== undefined && repairs < mostRepairs; repairs += 1) {
      outside.reach(clock() + awayMs);
      const latest = await findLatest();
      const isOpened = latest !== undefined && latest.id !== before;
      if (isOpened && latest.state === 'succeeded') break;
      // `serve` may be quicker than a person.
      // It may have died before it made one.
      const ledger = ledgers.find();
      if (ledger && (await isDueBySchedule(isoOf(day), config, ledger, clock)))
        await liveProcess(workFor('schedule', isoOf(day), 'file'));
      await liveProcess(isOpened ? ['run', isoOf(day)] : work);
    }
    return struck;
  }

  /** A run that looked for results has looked at all that came up to its end. What would come later never does. */
  function noteResults(): void {
    const today = createApp().today();
    for (const one of written.take(clock())) {
      const { at: _, path: _path, ...result } = one;
      journal.push({ kind: 'result', day, today, ...result, written: one });
    }
    sftp.forgetAnnounced();
  }

  /** Where the entries of the event begin. */
  let from = 0;

  /** Notes the runs that were opened by the event, and what was in their source. */
  async function noteRuns(): Promise<void> {
    const source = sources.get(day) ?? [];
    const known = new Set(recall(journal).flatMap((one) => (one.kind === 'collected' ? [one.run] : [])));
    const today = createApp().today();
    for (const { id, delivery: by, collectStartedAt, collectedAt, topsUp } of await ledgers.get().runs.list({
      day: isoOf(day),
      limit: 100,
    })) {
      if (known.has(id)) continue;
      const sent = journal.findIndex((one, at) => at >= from && one.kind === 'sent' && one.run === id);
      const at = sent < 0 ? from : sent;
      const isEarly = (collectedAt ?? 0) < endOf(day);
      if (collectedAt === undefined) journal.push({ kind: 'uncollected', day, run: id });
      else
        journal.splice(at, 0, {
          kind: 'collected',
          day,
          run: id,
          by,
          source,
          isEarly,
          topsUp: topsUp === true,
          comparedAt: collectStartedAt ?? collectedAt,
          today,
        });
    }
  }

  async function noteAwaiting(): Promise<Run | undefined> {
    const latest = await findLatest();
    if (latest && isAwaitingResult(latest)) awaiting.set(day, latest.id);
    else awaiting.delete(day);
    return latest;
  }

  /** A run that awaits its result must not read that of another run of its day, whose bookings may have changed. */
  function isUnambiguous({ entries, awaiting: before }: LedgerCopy): boolean {
    const isOthers = (one: Entry) => one.kind === 'sent' && (before.get(one.day) ?? one.run) !== one.run;
    return !journal.slice(entries).some(isOthers);
  }

  async function restoreLedger(to: number | 'gone'): Promise<void> {
    await noteRuns();
    noteResults();
    const copy = to === 'gone' ? undefined : ledgers.listCopies(to).find(isUnambiguous);
    const isLatest = await ledgers.restore(copy);
    awaiting = new Map(copy?.awaiting);
    sending.refused.clear();
    journal.push({ kind: 'restored', day, entries: copy?.entries ?? 0, isGone: !copy, isLatest });
    from = journal.length;
    written.forget(new Set(recall(journal).flatMap((one) => (one.kind === 'result' ? [one.written] : []))));
  }

  async function workOnDay(which: number, work: (iso: string) => Work): Promise<Run | undefined> {
    const before = day;
    await noteRuns();
    noteResults();
    [day, from] = [which, journal.length];
    writeFileSync(exportOf(day), toCsv(sources.get(day) ?? [], day));
    await workOn(work(isoOf(day)), undefined);
    await noteRuns();
    noteResults();
    const latest = await noteAwaiting();
    [day, from] = [before, journal.length];
    return latest;
  }

  /** Whether a guest's booking was sent on that day, as it is, as far as the ledger can know. */
  function wasSent(guest: Guest, which: number): boolean {
    const booking = bookingOf(guest, which);
    return recall(journal).some(
      (one) =>
        one.kind === 'sent' && one.day === which && one.bookings.some((sent) => identify(sent) === booking),
    );
  }

  const stage: Stage = {
    get day() {
      return day;
    },
    get iso() {
      return isoOf(day);
    },
    get ledger() {
      return ledgers.get();
    },
    get app() {
      return createApp();
    },
    ...{
      journal,
      sources,
      channels,
      mappings,
      clock,
      reach: outside.reach,
      findLatest,
      liveProcess,
      workOn,
      ask,
      wasSent,
      ...{ restoreLedger, workOnDay, listArchived: files.listArchived },
    },
    writeExport(text) {
      if (text === undefined) rmSync(exportOf(day), { force: true });
      else writeFileSync(exportOf(day), text);
    },
    expectResults(results, followed) {
      nextResults = results;
      isFollowed = followed;
    },
    useWorkers(count) {
      workers = count;
    },
    writeResults: (results) => service.write(results),
    noteResults,
  };

  /** What `serve` does again and again. */
  async function serve(): Promise<void> {
    await followUpRuns(createApp());
    await telling.tell(createApp(), isoOf(day));
  }

  return {
    ...{ everything: journal, heard },
    get journal() {
      return recall(journal);
    },
    get ledger() {
      return ledgers.get();
    },
    get app() {
      return createApp();
    },
    ask,

    async live(event) {
      ({ day } = event);
      const at = Math.max(clock() + hourMs, earliestOn(day, kindOf(event).isOnItsDay?.(event) ?? false));
      const morning = findMorning(at);
      // What came true before anybody was to be told, nobody hears.
      if (heard.length === 0) await serve();
      if (morning > clock()) {
        outside.reach(morning);
        await serve();
      }
      outside.reach(at);
      from = journal.length;
      const struck = await kindOf(event).live(event, stage);
      isFollowed = false;
      workers = 1;
      await noteRuns();
      noteResults();
      await serve();
      await noteAwaiting();
      ledgers.copy(journal.length, awaiting);
      return struck;
    },

    async tellTheRest() {
      channels.setMode('works');
      for (let times = 0; times < 2; times += 1) {
        outside.reach(clock() + hourMs);
        await serve();
      }
    },

    async askNextMorning(of) {
      const morning = findMorning(clock()) + dayMs;
      outside.reach(morning);
      return { morning, isDue: await isDueBySchedule(of, config, ledgers.get(), clock) };
    },

    readMetrics: product.readMetrics,

    takeFaults() {
      const taken = faults;
      faults = [];
      return taken;
    },

    search: files.search,

    async forgetNames() {
      outside.reach(clock() + longAfterMs);
      const { code, json } = await ask('guest', 'purge');
      const left = code === exitCode.done ? [] : [`the receipt: ${JSON.stringify(json.left)}`];
      return [...left, ...files.search(surname).filter((place) => !place.startsWith('sftp:'))];
    },

    async close() {
      held.release();
      await ledgers.close();
      stopCounting();
      rmSync(folder, { recursive: true });
    },
  };
}
