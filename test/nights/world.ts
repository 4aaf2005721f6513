import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { App } from '../../jobs/app.js';
import { exitCode } from '../../jobs/exit-code.js';
import { followUpRuns } from '../../jobs/follow-up.js';
import { loadConfig } from '../../src/config/load.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { noticeEventNames } from '../../src/ledger/notice.js';
import type { DeliveryKind } from '../../src/ledger/run.js';
import { parentFolder } from '../crash/live.js';
import { createOutside } from '../crash/outside.js';
import { createSftpDouble } from '../crash/sftp-double.js';
import { sqlite } from '../crash/sqlite-engine.js';
import { createChannels, notifySettings } from './channels.js';
import type { Stage } from './events/event.js';
import { workFor } from './events/review.js';
import { addDays, type Booked, type Guest, surname } from './guests.js';
import type { Heard } from './heard.js';
import { holdClock } from './held-clock.js';
import { type Event, kindOf } from './history.js';
import { bookingOf, type Entry, identify } from './journal.js';
import { createMappingTable } from './mappings.js';
import { type Answer, createProduct, type Work } from './product.js';
import type { ResultFile } from './results.js';
import { isDueBySchedule } from './serve-due.js';
import { createNightService, type Written } from './service.js';
import { createTelling } from './tell-people.js';
import { beginTroubledLife, refused, type Trouble } from './trouble.js';

/** The whole product in one process: its commands work in it as they do in production, with doubles of the outside. */
export interface World {
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

export const firstDay = '2026-11-20';
const [hourMs, dayMs] = [3_600_000, 86_400_000];
/** The afternoon of the first day, its end, and the night after it. */
export const firstMidnight = Date.parse('2026-11-20T23:00:00Z');
const [firstAfternoon, firstNight] = [firstMidnight - 7.5 * hourMs, firstMidnight + 3.5 * hourMs];
/** All names are due then: see `guestNameDays`. */
const longAfterMs = 60 * dayMs;
/** Until somebody runs a day again that went wrong, which happens so often at most. */
const [awayMs, mostRepairs] = [900_000, 3];

/** The business day of that number, as YYYY-MM-DD. */
export function isoOf(day: number): string {
  return addDays(firstDay, day);
}

const settings = {
  timezone: 'Europe/Madrid',
  service: { baseUrl: 'http://127.0.0.1:1/', apiKey: 'key', accountId: 'account' },
  source: { kind: 'csv', path: 'bookings-{day}.csv' },
  volume: { shareOfUsual: 0 },
  delivery: 'file',
  deadline: '06:00',
  notify: notifySettings(noticeEventNames),
  hashKey: 'a key of at least sixteen characters',
  body: { batchSize: 3 },
  file: {
    sftp: { host: '127.0.0.1', username: 'agency', password: 'secret', hostKey: `SHA256:${'A'.repeat(43)}` },
    maxPostedShare: 1,
    resultPollSeconds: 3_600,
  },
};

/** Opens a world on the afternoon of its first day. Its time is that of the process until it is closed. */
export async function openWorld(): Promise<World> {
  const folder = mkdtempSync(join(parentFolder, 'nights-'));
  const held = holdClock(firstAfternoon);
  writeFileSync(join(folder, 'hotel-review.yaml'), stringify({ ...settings, ledger: 'sqlite:ledger.db' }));
  const config = await loadConfig({ file: join(folder, 'hotel-review.yaml'), env: {} });
  const clock = () => Date.now();
  const outside = {
    ...createOutside(firstAfternoon),
    clock,
    reach: (instant: number) => held.set(Math.max(clock(), instant)),
  };
  const place = await sqlite.openPlace(folder);
  let life = beginTroubledLife();
  const stopCounting = sqlite.countCommits(() => ({ life, onCommit() {} }));
  let ledger = place.open(clock);
  const sftp = createSftpDouble(outside);
  const journal: Entry[] = [];
  const heard: Heard[] = [];
  const channels = createChannels({ outside, onTold: (told) => void heard.push(told) });
  const telling = createTelling({ outside, channels, heard, current: () => ({ life, ledger }) });
  /** What lies in the export of each day. */
  const sources = new Map<number, readonly Guest[]>();
  const exportOf = (which: number) => join(folder, `bookings-${isoOf(which)}.csv`);
  let nextResults: readonly ResultFile[] = [];
  let isFollowed = false;
  let workers = 1;
  /** What is on its way to the server. */
  let written: Written[] = [];
  /** The number of the day that is worked on, and its run. */
  let [day, run] = [0, ''];
  let ids = 0;
  /** What each run has sent. */
  const texts = new Set<string>();
  let faults: string[] = [];
  /** Runs in which something went wrong. */
  const troubled = new Set<string>();
  /** Runs that were refused, until a person tries them again. */
  const refusedRuns = new Set<string>();

  /** What a run sends once more must be something of which it has not recorded that it arrived. */
  async function noteSent(by: DeliveryKind, text: string, bookings: readonly Booked[]): Promise<void> {
    const isRepeated = texts.has(`${run} ${text}`);
    texts.add(`${run} ${text}`);
    const sent = journal.flatMap((one) =>
      one.kind === 'sent' && one.run === run && !one.isRepeated ? one.bookings : [],
    );
    const recorded = (await ledger.runs.find(run))?.counts.delivered ?? 0;
    if (refusedRuns.has(run))
      faults.push(`${run} was refused, and sent ${bookings.length} bookings without a person`);
    if (isRepeated && life.struck === undefined && !troubled.has(run))
      faults.push(`${run} sent ${bookings.length} bookings twice, and nothing had gone wrong`);
    if (isRepeated && bookings.length > sent.length - recorded)
      faults.push(
        `${run} sent ${bookings.length} bookings again, and had recorded ${recorded} of ${sent.length}`,
      );
    journal.push({ kind: 'sent', day, run, by, bookings, isRepeated });
  }

  const service = createNightService(sftp, clock, {
    onSent: noteSent,
    onWritten: (one) => void written.push(one),
    nextResults: () => nextResults,
    day: () => day,
    run: () => run,
  });
  const mappings = createMappingTable(clock);
  const product = createProduct({
    ...{ folder, config, outside, service, mappings, sftp },
    current: () => ({ life, ledger }),
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
  const findLatest = () => ledger.runs.latest(isoOf(day));

  /** Nobody's name is in what people read of a command, which may be kept as a log. */
  async function perform(work: Work) {
    const printed = await product.perform(work);
    if (printed.stderr.includes(surname))
      faults.push(`a name in what ${JSON.stringify(work)} wrote to standard error`);
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
    const own = beginTroubledLife(trouble);
    life = own;
    // A person and the hook may try everything again, the schedule only what may pass by itself.
    if (!('request' in work && work.request.by === 'schedule')) refusedRuns.delete(run);
    try {
      await perform(work);
    } catch (error) {
      if (own.struck === undefined) throw error;
    } finally {
      if (own.isOver) {
        await ledger.close().catch(() => {});
        await place.bury();
        ledger = place.open(clock);
      }
      if (own.struck !== undefined) troubled.add(run);
      if (own.struck === refused) refusedRuns.add(run);
      if (own.isOver) await telling.noteRuns(createApp(), isoOf(day));
      life = beginTroubledLife();
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
      if (await isDueBySchedule(isoOf(day), config, ledger, clock))
        await liveProcess(workFor('schedule', isoOf(day), 'file'));
      await liveProcess(isOpened ? ['run', isoOf(day)] : work);
    }
    return struck;
  }

  /** A run that looked for results has looked at all that came up to its end. What would come later never does. */
  function noteResults(): void {
    const seen = written.filter(({ at }) => at <= clock()).sort((one, other) => one.at - other.at);
    const today = createApp().today();
    for (const { at: _, ...result } of seen) journal.push({ kind: 'result', day, today, ...result });
    written = [];
    sftp.forgetAnnounced();
  }

  /** Notes the runs that were opened since then, and what was in their source. */
  async function noteRuns(from: number): Promise<void> {
    const source = sources.get(day) ?? [];
    const known = new Set(journal.flatMap((one) => (one.kind === 'collected' ? [one.run] : [])));
    const today = createApp().today();
    for (const { id, delivery: by, collectedAt, topsUp } of await ledger.runs.list({
      day: isoOf(day),
      limit: 100,
    })) {
      if (known.has(id)) continue;
      const sent = journal.findIndex((one) => one.kind === 'sent' && one.run === id);
      const at = sent < 0 ? from : sent;
      const isEarly = (collectedAt ?? 0) < firstMidnight + day * dayMs;
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
          collectedAt,
          today,
        });
    }
  }

  /** Whether a guest's booking was sent on that day, as it is. */
  function wasSent(guest: Guest, which: number): boolean {
    const booking = bookingOf(guest, which);
    return journal.some(
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
      return ledger;
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

  function search(text: string): readonly string[] {
    const ours = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.startsWith('bookings-'))
      .map(({ parentPath, name }) => join(parentPath, name))
      .filter((path) => readFileSync(path).includes(text));
    const theirs = Object.entries(sftp.readAll()).filter(([, content]) => content.includes(text));
    return [...ours.map((path) => path.slice(folder.length + 1)), ...theirs.map(([path]) => `sftp: ${path}`)];
  }

  /** What `serve` does again and again. */
  async function serve(): Promise<void> {
    await followUpRuns(createApp());
    await telling.tell(createApp(), isoOf(day));
  }

  return {
    ...{ journal, heard },
    get ledger() {
      return ledger;
    },
    get app() {
      return createApp();
    },
    ask,

    async live(event) {
      ({ day } = event);
      const at = Math.max(clock() + hourMs, earliest(event));
      const morning = findMorning(at);
      // What came true before anybody was to be told, nobody hears.
      if (heard.length === 0) await serve();
      if (morning > clock()) {
        outside.reach(morning);
        await serve();
      }
      outside.reach(at);
      const from = journal.length;
      const struck = await kindOf(event).live(event, stage);
      isFollowed = false;
      workers = 1;
      await noteRuns(from);
      noteResults();
      await serve();
      return struck;
    },

    async tellTheRest() {
      channels.setMode('works');
      for (let times = 0; times < 2; times += 1) {
        outside.reach(clock() + hourMs);
        await serve();
      }
    },

    readMetrics: product.readMetrics,

    takeFaults() {
      const taken = faults;
      faults = [];
      return taken;
    },

    search,

    async forgetNames() {
      outside.reach(clock() + longAfterMs);
      const { code, json } = await ask('guest', 'purge');
      const left = code === exitCode.done ? [] : [`the receipt: ${JSON.stringify(json.left)}`];
      return [...left, ...search(surname).filter((place) => !place.startsWith('sftp:'))];
    },

    async close() {
      held.release();
      await ledger.close();
      stopCounting();
      await place.remove();
      rmSync(folder, { recursive: true });
    },
  };
}

/** The last morning, after each deadline and digest, before that instant. */
function findMorning(at: number): number {
  const first = firstMidnight + 9 * hourMs - dayMs;
  return first + Math.floor((at - first) / dayMs) * dayMs;
}

/** When it can happen: on the day itself, or once that is over. */
function earliest(event: Event): number {
  return (kindOf(event).isOnItsDay?.(event) ? firstAfternoon : firstNight) + event.day * dayMs;
}
