import { isLoopbackAddress } from '../src/base/loopback.js';
import { describeError } from '../src/base/safe-error.js';
import { UsageError } from '../src/base/usage-error.js';
import { createScoreMemory } from '../src/cases/scores/scorecard.js';
import { type Access, createAccess } from '../src/config/access/access.js';
import type { Config } from '../src/config/load.js';
import { createDesk } from '../src/desk/desk.js';
import { readAssets } from '../src/desk/frame.js';
import type { DeskParts, Operations } from '../src/desk/page.js';
import { scoreDays } from '../src/desk/providers-page.js';
import { createHookCallerFinder } from '../src/desk/serve-pages.js';
import type { CheckCaller } from '../src/desk/server/caller.js';
import type { Ledger } from '../src/ledger/ledger.js';
import { explainUnsearched } from '../src/ledger/rejects.js';
import { SyncBusyError } from '../src/mappings/sync-mappings.js';
import type { NotifyAll } from '../src/notify/events.js';
import { acceptIn } from '../src/review/day/open-run.js';
import type { WantedDays } from '../src/schedule/wanted-days.js';
import { kindOf } from '../src/sources/registry.js';
import type { App } from './app.js';
import { clock } from './clock.js';
import { cancelIn } from './commands/cancel.js';
import { packEvidence } from './commands/evidence.js';
import { tryChannels } from './commands/notify.js';
import type { SyncWork } from './commands/serve.js';
import { findUsersFile } from './parts.js';
import { openRetryPolicy } from './sources.js';
import { findMailbox } from './verdict-mails.js';

/** They ship with the package. */
const assetsFolder = new URL('../src/desk/assets/', import.meta.url);

/** The pages of `serve`, with its operations. */
export async function openDesk(
  app: App,
  {
    ledger,
    operations,
    nights,
    health,
    checkCaller,
  }: Pick<DeskParts, 'operations' | 'nights' | 'health'> & {
    readonly ledger: Ledger;
    /** Checks callers of the hook, who may look too. */
    readonly checkCaller: CheckCaller | undefined;
  },
) {
  const { config, log, signal, commandElsewhere: command } = app;
  const { timezone, hashKey, source, deadline } = config;
  const access = openAccess(config);
  // Reports a damaged users' file now rather than to the first visitor.
  await access.hasUsers();
  const scores = createScoreMemory(ledger);
  // So that the first visitor waits less.
  scoreDays(scores, { today: app.today(), signal }).catch((error: unknown) => {
    if (!signal.aborted) log.warn({ fault: describeError(error) }, 'providers not compared yet');
  });
  return createDesk(
    {
      ...{ ledger, scores, operations, timezone, hashKey },
      unsearched: explainUnsearched(config),
      extraColumns: Object.keys(source.keep),
      ...{ deadline, nights, health },
      guestNameDays: config.guestNameDays,
      mailboxPollMs: findMailbox(config) === undefined ? undefined : config.verdicts.pollMinutes * 60_000,
      limits: {
        retry: openRetryPolicy(config),
        resultTimeoutMs: config.file.resultTimeoutMinutes * 60_000,
      },
      ...{ archive: app.archive(), placeUnit: kindOf(config.source).placeUnit, command, clock },
      packEvidence: (reference, stop) =>
        packEvidence({ ledger, archive: app.archive(), spool: app.spool(), signal: stop }, reference),
    },
    {
      access,
      ...(checkCaller && { findHookCaller: createHookCallerFinder(checkCaller) }),
      assets: await readAssets(assetsFolder),
      record: (action) => ledger.audit.record(action),
      signal,
      log,
    },
  );
}

interface OperationParts {
  readonly ledger: Ledger;
  readonly wantedDays: WantedDays;
  readonly syncWork: SyncWork;
  readonly notify: NotifyAll;
}

/** The operations of the desk, built from the parts of `serve`. */
export function openOperations(
  { config, warn, signal }: App,
  { ledger, wantedDays, syncWork, notify }: OperationParts,
): Operations & {
  /** Waits for background work. Call it after aborting the signal. */
  idle(): Promise<void>;
} {
  const { idle, ...sync } = createSyncOperation({ ledger, syncWork, notify }, signal);
  return {
    idle,
    async run(day, options) {
      // With the ledger unavailable, the run would start later, after the visitor got an error.
      await ledger.ping();
      return wantedDays.want(day, { mode: 'run', trigger: 'manual', ...options });
    },
    async accept(run, accepts) {
      const accepted = await acceptIn({ accepts }, run, { ledger, clock });
      for (const kind of accepts.kinds) notify({ type: 'accepted', kind, run: accepted });
    },
    look: wantedDays.look,
    replay: wantedDays.replay,
    cancel: (day, reason) => cancelIn(config, ledger, day, reason),
    sync,
    channels: config.notify.map(({ name, kind }) => ({ name, kind })),
    testChannels: (name) => tryChannels(config, name, { warn, signal }),
  };
}

function createSyncOperation(
  { ledger, syncWork, notify }: Omit<OperationParts, 'wantedDays'>,
  signal: AbortSignal,
): Operations['sync'] & { idle(): Promise<void> } {
  let isRunning = false;
  let running = Promise.resolve();
  let failure: string | undefined;

  async function sync(): Promise<void> {
    try {
      await syncWork.sync(signal);
    } catch (error) {
      if (signal.aborted) return;
      failure = describeError(error);
      if (!(error instanceof SyncBusyError)) notify({ type: 'sync-failed', error });
      return;
    }
    try {
      if (!signal.aborted) await syncWork.watch(signal);
    } catch (error) {
      if (!signal.aborted) notify({ type: 'watch-failed', error });
    }
  }

  return {
    async start() {
      const hold = isRunning ? undefined : await ledger.mappings.holdSync();
      await hold?.release();
      if (!hold || isRunning) throw new UsageError('a sync is running already');
      failure = undefined;
      isRunning = true;
      running = sync().finally(() => {
        isRunning = false;
      });
    },
    state: () => ({
      isRunning: isRunning || syncWork.isSyncing(),
      ...(failure !== undefined && { failure }),
    }),
    idle: () => running,
  };
}

/** After so long without a request, somebody has to sign in again. */
const idleMs = 30 * 60_000;

/** Who may use the pages of `serve`. */
function openAccess(config: Config): Access {
  const { host, hosts, publicUrl, proxies, signIn } = config.server;
  const others = [...hosts, ...proxies, ...(publicUrl === undefined ? [] : [publicUrl])];
  return createAccess({
    users: findUsersFile(config),
    // Host names, proxies or a public URL imply a proxy in front, through which others connect.
    isLocal: isLoopbackAddress(host) && others.length === 0,
    proxies,
    publicUrl,
    nameHeader: signIn?.header,
    idleMs,
    clock,
  });
}
