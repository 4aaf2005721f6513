import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type App, recordAction, recordLook } from '../../jobs/app.js';
import { resolveDays } from '../../jobs/command.js';
import { exitCode } from '../../jobs/exit-code.js';
import { createLedgerGate, keepArchiveTold } from '../../jobs/ledger-gate.js';
import { type ReviewRequest, runReview } from '../../jobs/main-job.js';
import { withMetricsFile } from '../../jobs/metrics-file.js';
import { openArchive, openSpool } from '../../jobs/parts.js';
import { readCommandLine } from '../../jobs/program.js';
import { composeCollect, createDelivery, type OpenedReview } from '../../jobs/review.js';
import { createReports, createTerminal } from '../../jobs/terminal.js';
import { UsageError } from '../../src/base/safe-error.js';
import { businessDayAt, createBusinessDay } from '../../src/booking/business-day.js';
import type { Config } from '../../src/config/load.js';
import { LedgerUnusableError } from '../../src/ledger/errors.js';
import { readErasedGuests } from '../../src/ledger/guests.js';
import { createNotify, type Observer } from '../../src/notify/events.js';
import { adoptArchive } from '../../src/review/archive-fit.js';
import type { DeliveryKind } from '../../src/rules/run.js';
import type { ReviewService } from '../../src/service/client.js';
import type { MappingService } from '../../src/service/operations.js';
import { createPeerClocks } from '../../src/transports/http/peer-clocks.js';
import type { SftpServer } from '../../src/transports/sftp/sftp.js';
import { createJumpingWorkforce } from '../crash/jumping-workforce.js';
import { type Life, throughLife } from '../crash/life.js';
import type { Outside } from '../crash/outside.js';
import { sftpActions } from '../crash/sftp-double.js';
import { createTurns } from '../crash/turns.js';
import { captureIo } from '../support/command-io.js';
import type { KeptLedger } from './kept-ledger.js';

/** All wiring to the inside: the product's own commands, with doubles of what is outside, and every action passing through a life. */
interface Surroundings {
  readonly folder: string;
  readonly config: Config;
  readonly outside: Pick<Outside, 'clock' | 'reach' | 'random'>;
  readonly service: ReviewService;
  readonly mappings: Pick<MappingService, 'getMappings'>;
  readonly sftp: SftpServer;
  readonly createRunId: OpenedReview['createRunId'];
  /** Of the process that works now. */
  readonly currentLife: () => Life;
  readonly ledgers: Pick<KeptLedger, 'find' | 'create'>;
  /** How many steps of a run are performed at once, and whether one of them is done before the next one. */
  readonly workers: () => number;
  readonly isSerial: boolean;
  /** What each process that reviews does at its end. */
  readonly tell: (app: App) => Promise<void>;
  /** Called before each connection to the SFTP server. */
  readonly onConnect: () => Promise<void>;
}

/** What a process does: a command, or what `serve` does on its schedule or for its hook. */
export type Work =
  | readonly string[]
  | { readonly day: string; readonly request: ReviewRequest }
  | ((app: App) => Promise<number>);

/** What a command says. */
export interface Answer {
  readonly code: number;
  // biome-ignore lint/suspicious/noExplicitAny: what a command prints is what is tested
  readonly json: any;
}

interface Printed {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const hourMs = 3_600_000;

export function createProduct({ folder, config, outside, ledgers, currentLife, ...given }: Surroundings) {
  const { clock } = outside;

  const turns = createTurns(outside.random);

  /** The same life, whose steps take turns. */
  function withTurns(life: Life): Pick<Life, 'pass'> {
    return {
      async pass(name, action) {
        await turns.take();
        return life.pass(name, action);
      },
    };
  }

  function openSftp(): SftpServer {
    const life = withTurns(currentLife());
    return {
      async connect(options) {
        await given.onConnect();
        return throughLife(life, 'sftp', await given.sftp.connect(options), sftpActions);
      },
    };
  }

  async function openReview(app: App): Promise<OpenedReview> {
    const { notify } = app;
    const [life, ledger] = [currentLife(), await app.ledger()];
    const gate = createLedgerGate(app, ledger);
    const told = keepArchiveTold(app, ledger);
    app.beforeClose(told.close);
    const service = throughLife(withTurns(life), 'service', given.service, [
      'reviewBookedHotels',
      'reviewBookedHotelsByFile',
    ]);
    const deliveryFor = (kind: DeliveryKind) =>
      createDelivery(kind, app.config, {
        ...{ ledger, service, findSftp: openSftp, archive: app.archive(), notify, clock },
      });
    const { createRunId } = given;
    app.beforeClose(() => given.tell(app));
    return {
      ...(await composeCollect(app.config, app.sourceMessages)),
      ...{ ledger, deliveryFor, createRunId, notify, gate, mayReview: gate.mayReview },
      beforeSending: told.tell,
      readErased: () => readErasedGuests(ledger, config.hashKey),
      workforce: createJumpingWorkforce(
        {
          ledger,
          life,
          outside,
          isSerial: given.isSerial,
          longestWaitMs: hourMs + 1,
          workers: given.workers(),
          turns,
          notify,
        },
        deliveryFor,
      ),
    };
  }

  /** An app whose outside is this world, and what it prints. */
  function createApp() {
    const life = currentLife();
    const { io, stdout, stderr } = captureIo({ cwd: folder });
    const enders: (() => unknown)[] = [];
    const reports = createReports(io.stdout, true);
    const terminal = createTerminal({ config: 'hotel-review.yaml', reports, log: undefined, io });
    const findLedger = async () => ledgers.find();
    const openLedger = async (adopts: boolean) => ledgers.find() ?? ledgers.create(adopts);
    const observers: Observer[] = [];
    const app: App = {
      ...terminal,
      notify: createNotify(observers, refuse),
      observe: (observer) => void observers.push(observer),
      config,
      peerClocks: createPeerClocks(clock, terminal.caution),
      today: () => businessDayAt(new Date(clock()), config.timezone).iso,
      ledger: () => openLedger(false),
      async adoptLedger() {
        const adopted = await openLedger(true);
        await adoptArchive(app.archive(), adopted);
        return adopted;
      },
      findLedger,
      archive: () =>
        throughLife(life, 'archive', openArchive(config), ['store', 'remove', 'writeLedgerMark']),
      spool: () => throughLife(life, 'spool', openSpool(config), ['write', 'remove']),
      keys: () => undefined,
      sftp: openSftp,
      reviewService: refuse,
      // Only its pages are asked for.
      mappingService: () =>
        throughLife(life, 'mappings', given.mappings, ['getMappings']) as ReturnType<App['mappingService']>,
      keep: (part) => part,
      review: () => openReview(app),
      tellOfLedger: refuse,
      beforeClose: (end) => void enders.push(end),
      async look(action) {
        const ledger = ledgers.find();
        if (ledger) await recordLook(ledger, action, terminal);
      },
      async record(action) {
        const ledger = ledgers.find();
        if (ledger) await recordAction(ledger, action, terminal);
      },
      writeCsv: async () => {},
      answerNone: (json, text = '') => terminal.answer(text, json, exitCode.failed),
      describeNoLedger: () => 'There is no ledger yet.',
    };
    return { app, io, stdout, stderr, enders };
  }

  async function performCommand(app: App, words: readonly string[]): Promise<number> {
    const typed = await readCommandLine([...words, '--json'], '9.9.9', {
      writeOut: refuse,
      writeErr: refuse,
    });
    if (typed?.command.run?.needs !== 'configuration') throw new Error(`no such command: ${words.join(' ')}`);
    const { command, input } = typed;
    return typed.command.run.perform(app, resolveDays(command, input, config.timezone) as never);
  }

  function performWork(app: App, work: Work): Promise<number> {
    if (typeof work === 'function') return work(app);
    return 'request' in work
      ? runReview(app, createBusinessDay(work.day, config.timezone), work.request)
      : performCommand(app, work);
  }

  return {
    createApp: () => createApp().app,

    async perform(work: Work): Promise<Printed> {
      const { app, stdout, stderr, enders } = createApp();
      try {
        const code = await performWork(app, work).catch(refuseUsage);
        return { code, stdout: stdout.text(), stderr: stderr.text() };
      } finally {
        for (const end of enders) await end();
      }
    },

    /** The file that `run --metrics-file` writes at its end. */
    async readMetrics(): Promise<string> {
      const path = join(folder, 'run.prom');
      await withMetricsFile(path, createApp().io, async (note) => {
        note(config);
        return exitCode.done;
      });
      return readFileSync(path, 'utf8');
    },
  };
}

function refuse(): never {
  throw new Error('not in this world');
}

function refuseUsage(error: unknown): number {
  if (error instanceof UsageError || error instanceof LedgerUnusableError) return exitCode.usage;
  throw error;
}
