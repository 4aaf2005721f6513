import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';
import { stringify } from 'yaml';
import { type App, recordAction, recordLook } from '../../jobs/app.js';
import { resolveDays } from '../../jobs/command.js';
import { exitCode } from '../../jobs/exit-code.js';
import { followUpRuns } from '../../jobs/follow-up.js';
import { createLedgerGate } from '../../jobs/ledger-gate.js';
import { withMetricsFile } from '../../jobs/metrics-file.js';
import { openArchive, openSpool } from '../../jobs/parts.js';
import { readCommandLine } from '../../jobs/program.js';
import { composeCollect, createDelivery, type OpenedReview } from '../../jobs/review.js';
import { createTerminal } from '../../jobs/terminal.js';
import { businessDayAt } from '../../src/booking/business-day.js';
import { loadConfig } from '../../src/config/load.js';
import { createPeerClocks } from '../../src/http/peer-clocks.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import type { DeliveryKind, Run } from '../../src/ledger/run.js';
import { createReports } from '../../src/text/reports.js';
import { UsageError } from '../../src/text/usage-error.js';
import { examineMail } from '../../src/verdict-mails/examine-mail.js';
import { createMailTaker } from '../../src/verdict-mails/take-mail.js';
import { createJumpingWorkforce } from '../crash/jumping-workforce.js';
import { beginLife } from '../crash/life.js';
import { parentFolder } from '../crash/live.js';
import { createOutside } from '../crash/outside.js';
import { createSftpDouble } from '../crash/sftp-double.js';
import { sqlite } from '../crash/sqlite-engine.js';
import { captureIo } from '../support/command-io.js';
import { mailOf, words } from '../verdict-mails/mails.js';
import { type Booked, type Event, findBooked, type Guest, type History, type ResultFile } from './history.js';
import type { Entry } from './journal.js';
import { createNightService, type Written } from './service.js';

/** The whole product in one process: its commands work in it as they do in production, with doubles of the outside. */
export interface World {
  readonly journal: readonly Entry[];
  readonly ledger: Ledger;
  readonly app: App;
  /** Lets an event happen. */
  live(event: Event): Promise<void>;
  /** Performs a command with `--json`. One that is refused, as some histories ask for, changes nothing and prints nothing. */
  ask(...words: string[]): Promise<Answer>;
  /** The file that `run --metrics-file` writes at its end. */
  readMetrics(): Promise<string>;
  /** Closes it; nothing of it stays. */
  close(): Promise<void>;
}

interface Answer {
  readonly code: number;
  // biome-ignore lint/suspicious/noExplicitAny: what a command prints is what is tested
  readonly json: any;
}

export const day = '2026-11-20';
const startsAt = Date.parse('2026-11-21T02:30:00Z');
const [hourMs, dayMs] = [3_600_000, 86_400_000];
/** After so long without a change, even a result that is cut off can be judged. */
const quietMs = 600_000;

const settings = {
  timezone: 'Europe/Madrid',
  service: { baseUrl: 'http://127.0.0.1:1/', apiKey: 'key', accountId: 'account' },
  source: { kind: 'csv', path: 'bookings.csv', maxRepeatedShare: 1 },
  volume: { minimum: 0 },
  delivery: 'file',
  file: {
    sftp: { host: '127.0.0.1', username: 'agency', password: 'secret', hostKey: `SHA256:${'A'.repeat(43)}` },
    maxPostedShare: 1,
    resultPollSeconds: 3_600,
  },
};

/** Opens a world on the morning after the day. Its time is that of the process until it is closed. */
export async function openWorld(): Promise<World> {
  const folder = mkdtempSync(join(parentFolder, 'nights-'));
  vi.useFakeTimers({ toFake: ['Date'], now: startsAt });
  writeFileSync(join(folder, 'hotel-review.yaml'), stringify({ ...settings, ledger: 'sqlite:ledger.db' }));
  const config = await loadConfig({ file: join(folder, 'hotel-review.yaml'), env: {} });
  const clock = Date.now;
  const outside = {
    ...createOutside(startsAt),
    clock,
    reach: (instant: number) => void vi.setSystemTime(Math.max(clock(), instant)),
  };
  const place = await sqlite.openPlace(folder);
  const ledger = place.open(clock);
  const sftp = createSftpDouble(outside);
  const journal: Entry[] = [];
  let nextResults: readonly ResultFile[] = [];
  let isFollowed = false;
  /** What is on its way to the server. */
  let written: Written[] = [];
  let run = '';
  const service = createNightService(sftp, clock, {
    onSent: (by, bookings) => void journal.push({ kind: 'sent', run, by, bookings }),
    onWritten: (one) => void written.push(one),
    nextResults: () => nextResults,
  });

  async function connect(options: Parameters<typeof sftp.connect>[0]) {
    if (isFollowed) await followUpRuns(createApp().app);
    return sftp.connect(options);
  }

  async function openReview(app: App): Promise<OpenedReview> {
    const gate = createLedgerGate(app, ledger);
    const deliveryFor = (kind: DeliveryKind) =>
      createDelivery(kind, app.config, {
        ...{ ledger, service, findSftp: () => ({ connect }), archive: app.archive(), notify, clock },
      });
    const life = beginLife();
    let ids = 0;
    return {
      ...(await composeCollect(app.config, app.sourceMessages)),
      ledger,
      deliveryFor,
      workforce: createJumpingWorkforce(
        { ledger, life, outside, isSerial: false, longestWaitMs: hourMs + 1 },
        deliveryFor,
      ),
      createRunId() {
        ids = journal.filter(({ kind }) => kind === 'collected').length + 1;
        run = `${day.replaceAll('-', '')}-run${ids}`;
        return run;
      },
      notify,
      gate,
      mayReview: gate.mayReview,
    };
  }

  /** An app whose outside is this world, and what it prints. */
  function createApp() {
    const { io, stdout, stderr } = captureIo({ cwd: folder });
    const reports = createReports(io.stdout, true);
    const terminal = createTerminal({ config: 'hotel-review.yaml', reports, log: undefined, io });
    const app: App = {
      ...terminal,
      config,
      peerClocks: createPeerClocks(clock, terminal.caution),
      today: () => businessDayAt(new Date(clock()), config.timezone).iso,
      ledger: async () => ledger,
      adoptLedger: refuse,
      findLedger: async () => ledger,
      archive: () => openArchive(config),
      spool: () => openSpool(config),
      keys: () => undefined,
      sftp: refuse,
      reviewService: refuse,
      mappingService: refuse,
      keep: (part) => part,
      review: () => openReview(app),
      tellOfLedger: refuse,
      beforeClose: () => {},
      look: (action) => recordLook(ledger, action, terminal),
      record: (action) => recordAction(ledger, action, terminal),
      writeCsv: async () => {},
      answerNone: (json, text = '') => terminal.answer(text, json, exitCode.failed),
      describeNoLedger: refuse,
    };
    return { app, io, stdout, stderr };
  }

  async function perform(words: readonly string[]) {
    const { app, stdout, stderr } = createApp();
    const typed = await readCommandLine([...words, '--json'], '9.9.9', {
      writeOut: refuse,
      writeErr: refuse,
    });
    if (typed?.command.run?.needs !== 'configuration') throw new Error(`no such command: ${words.join(' ')}`);
    const { command, input } = typed;
    const { perform: work } = typed.command.run;
    const code = await work(app, resolveDays(command, input, config.timezone) as never).catch(refuseUsage);
    return { code, stdout: stdout.text(), stderr: stderr.text() };
  }

  async function ask(...words: string[]): Promise<Answer> {
    const { code, stdout, stderr } = await perform(words);
    if (code === exitCode.usage) return { code, json: {} };
    if (stdout === '') throw new Error(`${words.join(' ')} printed nothing: ${stderr}`);
    return { code, json: JSON.parse(stdout) };
  }

  /** A run that looked for results has looked at all that came up to its end. What would come later never does. */
  function noteResults(): void {
    const seen = written.filter(({ at }) => at <= clock());
    journal.push(...seen.map(({ at: _, ...result }) => ({ kind: 'result', run, ...result }) as const));
    written = [];
    sftp.forgetAnnounced();
  }

  /** Somebody runs the day once more, because a result is awaited that has come by now. */
  async function look(results: readonly ResultFile[]): Promise<void> {
    const latest = await ledger.runs.latest(day);
    if (latest?.file?.triggeredAt === undefined || !isUnfinished(latest)) return;
    service.write(results.map((one) => ({ ...one, afterMs: 0 })));
    outside.reach(clock() + quietMs);
    await ask('run', day);
    noteResults();
  }

  async function review(words: string[], source: readonly Guest[]): Promise<void> {
    writeFileSync(join(folder, 'bookings.csv'), toCsv(source.map(findBooked)));
    const before = (await ledger.runs.latest(day))?.id;
    const at = journal.length;
    await ask(...words);
    const latest = await ledger.runs.latest(day);
    if (latest && latest.id !== before)
      journal.splice(at, 0, { kind: 'collected', run: latest.id, by: latest.delivery, source });
    noteResults();
  }

  return {
    journal,
    ledger,
    get app() {
      return createApp().app;
    },
    ask,

    async live(event) {
      outside.reach(clock() + hourMs);
      switch (event.kind) {
        case 'review': {
          ({ results: nextResults, isFollowed } = event);
          const words = {
            run: ['run', day, '--delivery', event.by],
            // It goes the way of the run before it.
            'top-up': ['replay', day, '--late', '--reason', 'late bookings'],
            replay: ['replay', day, '--delivery', event.by, '--reason', 'again'],
          };
          await review(words[event.how], event.source);
          break;
        }
        case 'look': {
          for (const at of new Set(event.results.map(({ afterMs }) => afterMs)))
            await look(event.results.filter(({ afterMs }) => afterMs === at));
          break;
        }
        case 'accept': {
          if ((await ledger.runs.latest(day))?.state !== 'succeeded') break;
          await ask('run', day, '--accept-affected');
          journal.push({ kind: 'accepted' });
          break;
        }
        case 'mail': {
          const taken = await takeMail(event.names, ledger, createApp().app.today);
          journal.push({ kind: 'mail', names: taken ? event.names : [] });
          break;
        }
      }
      isFollowed = false;
      await followUpRuns(createApp().app);
    },

    async readMetrics() {
      const path = join(folder, 'run.prom');
      await withMetricsFile(path, createApp().io, async (note) => {
        note(config);
        return exitCode.done;
      });
      return readFileSync(path, 'utf8');
    },

    async close() {
      vi.useRealTimers();
      await ledger.close();
      await place.remove();
      rmSync(folder, { recursive: true });
    },
  };
}

function isUnfinished({ state }: Run): boolean {
  return state === 'awaiting-result' || state === 'failed';
}

function notify(): void {}

function refuse(): never {
  throw new Error('not in this world');
}

function refuseUsage(error: unknown): number {
  if (error instanceof UsageError) return exitCode.usage;
  throw error;
}

async function takeMail(names: readonly Guest[], ledger: Ledger, today: () => string): Promise<boolean> {
  const taker = createMailTaker({
    ...{ ledger, today, notify, clock: Date.now, matchMs: 14 * dayMs },
    examine: (bytes, lookUp) => examineMail(bytes, words, lookUp),
    senders: { from: [] },
  });
  const lines = names.map((guest) => describeBooking(findBooked(guest)));
  const bytes = Buffer.from(mailOf('text/plain', `Incorrect:\r\n\r\n${lines.join('\r\n\r\n')}`));
  const { outcome } = await taker.take({ bytes, from: 'mail.eml' }, { isAsked: true });
  return outcome === 'named';
}

function describeBooking({ BookingReferenceId = '', ProviderHotelId, ServiceId }: Booked): string {
  return `Incorrect: ${BookingReferenceId} of hotel ${ProviderHotelId}, master hotel ${ServiceId}`;
}

const columns = [
  ...['ServiceId', 'BookingReferenceId', 'BookingClientName', 'ProviderName', 'ProviderHotelId'],
  ...['CheckInDate', 'CheckOutDate'],
] as const satisfies readonly (keyof Booked)[] | readonly string[];

function toCsv(bookings: readonly Booked[]): string {
  const rows = bookings.map((booking) =>
    columns.map((column) => booking[column as keyof Booked] ?? '').join(','),
  );
  return `${[columns.join(','), ...rows].join('\n')}\n`;
}

/** A history as it was lived. */
export interface Lived {
  readonly journal: readonly Entry[];
  /** One line for each fault that was found after an event. */
  readonly faults: readonly string[];
}

/** Lives a history; `judge` says what is wrong after each event. */
export async function liveHistory(
  history: History,
  judge: (world: World, isEnd: boolean) => Promise<readonly string[]>,
): Promise<Lived> {
  const world = await openWorld();
  const faults: string[] = [];
  try {
    for (const [index, event] of history.entries()) {
      await world.live(event);
      const found = await judge(world, index === history.length - 1);
      faults.push(...found.map((fault) => `event ${index + 1}: ${fault}`));
    }
    return { journal: world.journal, faults };
  } finally {
    await world.close();
  }
}
