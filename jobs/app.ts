import { describeError, SafeError } from '../src/base/safe-error.js';
import { businessDayAt } from '../src/booking/business-day.js';
import type { Config } from '../src/config/load.js';
import type { Ledger, ReadOnlyLedger } from '../src/ledger/ledger.js';
import { createHeartbeat } from '../src/notify/channels/heartbeat.js';
import { createHeartbeatObserver, type HeartbeatObserver } from '../src/notify/heartbeat-observer.js';
import { adoptArchive } from '../src/review/archive-fit.js';
import type { RunRequest } from '../src/review/review-day.js';
import { auditAccepted } from '../src/rules/acceptance-words.js';
import type { Action } from '../src/rules/action.js';
import type { Run } from '../src/rules/run.js';
import { createPeerClocks } from '../src/transports/http/peer-clocks.js';
import { describeHost } from '../src/transports/http/transport.js';
import type { SftpServer } from '../src/transports/sftp/sftp.js';
import { clock, random } from './clock.js';
import type { CsvOptions } from './command.js';
import { exitCode } from './exit-code.js';
import { createLedgerTelling, type TellOfLedger } from './notifications.js';
import { writeCsvFile } from './output-files.js';
import {
  findLedger,
  type LedgerReading,
  openArchive,
  openKeys,
  openLedger,
  openMappingService,
  openReviewService,
  openSftp,
  openSpool,
} from './parts.js';
import type { OpenedReview } from './review.js';
import type { Terminal } from './terminal.js';

/** Performs the work with an app, and closes what it opened, whatever happened. */
export async function withApp<Result>(
  config: Config,
  terminal: Terminal,
  work: (app: App) => Promise<Result>,
): Promise<Result> {
  const parts = createParts();
  let result: Result;
  try {
    if (config.heartbeat) {
      const heartbeat = parts.keep(openHeartbeat(config, config.heartbeat, terminal));
      terminal.observe(heartbeat.notify);
    }
    const telling = parts.keep(createLedgerTelling(config, terminal));
    terminal.observe(telling.notify);
    result = await work(createApp(config, terminal, parts, telling.tell));
  } catch (error) {
    // Why the work failed matters more than what would not close after it.
    await parts.close().catch(() => {});
    throw error;
  }
  await parts.close();
  return result;
}

function closePart(part: { close(): unknown } | undefined): unknown {
  return part?.close();
}

/** Long enough for the next step, short enough for servers that limit their connections. */
const sftpIdleMs = 5_000;

type Parts = ReturnType<typeof createParts>;

function createParts() {
  const closers: (() => unknown)[] = [];
  const enders: (() => unknown)[] = [];
  const opening = new Set<Promise<unknown>>();

  /** Opens that part when it is first asked for. */
  function once<Part>(open: () => Part, close?: (part: Awaited<Part>) => unknown): () => Part {
    let opened: { readonly part: Part } | undefined;
    const closeLater = (part: Awaited<Part>) => close && closers.push(() => close(part));
    return () => {
      if (!opened) {
        opened = { part: open() };
        // Only once it is open: the parts that it needs are opened before it, and closed after it.
        if (opened.part instanceof Promise) opening.add(opened.part.then(closeLater, () => {}));
        else closeLater(opened.part as Awaited<Part>);
      }
      return opened.part;
    };
  }

  return {
    once,
    keep: <Part extends { close(): unknown }>(part: Part) => once(() => part, closePart)(),
    beforeClose: (end: () => unknown) => void enders.push(end),
    /**
     * First ends what is at work, which may still open parts, and then closes the parts; the latest first.
     *
     * @throws the first failure, once all were tried
     */
    async close(): Promise<void> {
      const failures: unknown[] = [];
      for (const list of [enders, closers]) {
        await Promise.all(opening);
        for (let close = list.pop(); close; close = list.pop()) {
          try {
            await close();
          } catch (error) {
            failures.push(error);
          }
        }
      }
      if (failures.length > 0) throw failures[0];
    },
  };
}

/**
 * What a command works with: its terminal, the configuration, and the parts that it describes. A part is opened when it is first
 * asked for; whatever was opened is closed when the command ends, the latest first.
 */
export type App = ReturnType<typeof createApp>;

function createApp(
  config: Config,
  terminal: Terminal,
  { once, keep, beforeClose }: Parts,
  tellOfLedger: TellOfLedger,
) {
  let adopts = false;
  const peerClocks = createPeerClocks(clock, terminal.caution);
  const openLedgerOnce = once(
    () =>
      openLedger(config, {
        adopts,
        worker: terminal.io.worker,
        peerClock: peerClocks.of('ledger'),
        warn: terminal.caution,
      }),
    closePart,
  );
  let reading: LedgerReading = {};
  const readLedger = once(() => findLedger(config, reading), closePart);
  let written: Promise<Ledger> | undefined;
  const ledger = (): Promise<Ledger> => {
    written = openLedgerOnce();
    return written;
  };
  /** What is open for writing can be read, too. */
  const findOpen = (how: LedgerReading = {}): Promise<ReadOnlyLedger | undefined> => {
    reading = how;
    return written ?? readLedger();
  };
  const archive = once(() => openArchive(config, peerClocks.of('archive')));
  const describeNoLedger = () =>
    `There is no ledger${'path' in config.ledger ? ` at ${config.ledger.path}` : ''} yet.`;
  let sftp: SftpServer | undefined;
  let review: Promise<OpenedReview> | undefined;
  const app = {
    ...terminal,
    config,
    /** The day that it is in the account's zone: YYYY-MM-DD. */
    today: () => businessDayAt(new Date(clock()), config.timezone).iso,
    /** The ledger, which is created if there is none, unless the archive knows another one. */
    ledger,
    /** The same, which becomes the ledger of the archive, whichever that was. Called before `ledger`. */
    async adoptLedger() {
      adopts = true;
      const adopted = await ledger();
      await adoptArchive(archive(), adopted);
      return adopted;
    },
    /** The ledger, only for reading; undefined if there is none. Creates nothing. The first caller says how. */
    findLedger: findOpen,
    /** What is known of the clocks of those who answer. */
    peerClocks,
    archive,
    spool: once(() => openSpool(config)),
    /** Undefined if nothing is encrypted. */
    keys: () => openKeys(config),
    /** A connection that is closed when it is idle for so long; the first caller's value wins. */
    sftp(idleMs = sftpIdleMs) {
      sftp ??= keep(openSftp(config, { keep: { idleMs, clock } }));
      return sftp;
    },
    /** The client for reviews. It never retries: the step runner does. */
    reviewService: once(() => openReviewService(config, peerClocks.of('service')), closePart),
    /** The service's typed operations, with the configured retries. */
    mappingService: once(() => openMappingService(config), closePart),
    /** Closes a part when the command ends, before what was opened earlier. */
    keep,
    /** What reviews a day: its source, its deliveries, and what performs its steps, unless these are left to workers. */
    review(performs = true): Promise<OpenedReview> {
      // Most commands only look back: they do without what reviews a day.
      review ??= import('./review.js').then(({ openReview }) => openReview(app, performs));
      return review;
    },
    /** Tells people, directly and once, that the ledger can't be used. Reviews that end because of it are told of by their events. */
    tellOfLedger,
    /** Ends work when the app closes, before any part is closed. */
    beforeClose,
    /** Records a look at bookings without guests' names, if there is a ledger; one that can't be written to causes a warning only. */
    async look(action: Action) {
      const found = await findOpen();
      if (found) await recordLook(found, action, terminal);
    },
    /**
     * Records an action on guests' data before it is performed, if there is a ledger.
     *
     * @throws NotRecordedError, so that nothing reveals or removes names without a record
     */
    async record(action: Action) {
      const found = await findOpen();
      if (found) await recordAction(found, action, terminal);
    },
    /** Writes the file of `--csv`, if one was named, only readable by its owner. */
    writeCsv: (file: CsvOptions, columns: readonly string[], fill: Parameters<typeof writeCsvFile>[3]) =>
      writeCsvFile(columns, file, terminal, fill),
    /** Answers that there is nothing, with the exit code of a failure. Without words it is the ledger that is not there. */
    answerNone: (json: object, words: Parameters<Terminal['answer']>[0] = describeNoLedger()) =>
      terminal.answer(words, json, exitCode.failed),
    /** "There is no ledger at … yet." */
    describeNoLedger,
  };
  return app;
}

/** Tells the heartbeat service how nights went. Connects only once there is something to send. */
function openHeartbeat(
  { timezone, proxy }: Config,
  heartbeat: NonNullable<Config['heartbeat']>,
  { caution, signal }: Terminal,
): HeartbeatObserver {
  const host = describeHost(heartbeat.url);
  return createHeartbeatObserver({
    heartbeat: createHeartbeat({ ...heartbeat, proxy, random }),
    timezone,
    clock,
    warn: (code) => caution(`the heartbeat could not be sent to ${host} (${code})`),
    stop: signal,
  });
}

/**
 * Records an action on guests' data in the audit trail before it is performed: nothing reveals or removes names without
 * a record.
 *
 * @throws NotRecordedError
 */
export async function recordAction(ledger: ReadOnlyLedger, action: Action, { io }: Terminal): Promise<void> {
  try {
    await record(ledger, action, io.user);
  } catch (error) {
    throw new NotRecordedError(error);
  }
}

function record({ audit }: ReadOnlyLedger, action: Action, who: string): Promise<void> {
  return audit.record({ ...action, at: clock(), who });
}

/**
 * Records a look at bookings without guests' names. Someone woken by a full disk must still be able to look, so a ledger
 * that can't be written to prevents nothing; the terminal then says that the record is missing.
 */
export async function recordLook(
  ledger: ReadOnlyLedger,
  action: Action,
  { io, caution }: Terminal,
  who = io.user,
): Promise<void> {
  try {
    await record(ledger, action, who);
  } catch (error) {
    caution(`the audit trail can't record this: ${describeError(error)}`);
  }
}

/** Records the run that a command opens, resumes or accepts, like a look. */
export function recordOpening(
  ledger: ReadOnlyLedger,
  { trigger, reason, accepts, acceptsRepeated }: Omit<RunRequest, 'day' | 'mode' | 'configuredDelivery'>,
  terminal: Terminal,
) {
  let recording = Promise.resolve();
  const action = trigger === 'replay' ? 'replay' : 'run';
  const record = ({ id, day }: Run, how: Action['details']) => {
    const details = {
      run: id,
      ...how,
      ...auditAccepted(accepts?.kinds),
      ...(acceptsRepeated && { acceptRepeated: true }),
      ...(reason !== undefined && { reason }),
    };
    recording = recordLook(ledger, { action, subject: day, details }, terminal);
  };
  return {
    onOpened: (run: Run, isNew: boolean) => record(run, isNew ? {} : { resumed: true }),
    onAccepted: (run: Run) => record(run, {}),
    recorded: () => recording,
  };
}

/** The audit trail can't be written. */
class NotRecordedError extends SafeError {
  override readonly name = 'NotRecordedError';
  constructor(cause: unknown) {
    super(`refused, because the audit trail can't record it: ${describeError(cause)}`, { cause });
  }
}
