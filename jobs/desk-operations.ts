import type { Config } from '../src/config/load.js';
import type { Operations, SyncOperation } from '../src/desk/operations/operations.js';
import type { NotifyAll } from '../src/events/events.js';
import { SyncBusyError } from '../src/mappings/sync-mappings.js';
import type { BackgroundReviews } from '../src/review/day/background-reviews.js';
import type { Replays } from '../src/review/day/replays.js';
import type { Ledger } from '../src/review/ledger.js';
import { describeError } from '../src/text/safe-error.js';
import { UsageError } from '../src/text/usage-error.js';
import { cancelIn } from './cancel-run.js';
import { clock } from './clock.js';
import { tryChannels } from './notify.js';
import type { SyncWork } from './schedules.js';

interface OperationParts {
  readonly ledger: Ledger;
  readonly reviews: BackgroundReviews;
  readonly replays: Replays;
  readonly syncWork: SyncWork;
  readonly notify: NotifyAll;
  readonly warn: (message: string) => void;
  /** Stops everything. */
  readonly signal: AbortSignal;
}

/** The operations of the desk, built from the parts of `serve`. */
export function composeOperations(
  config: Config,
  { ledger, reviews, replays, syncWork, notify, warn, signal }: OperationParts,
): Operations & {
  /** Waits for background work. Call it after aborting the signal. */
  idle(): Promise<void>;
} {
  const { idle, ...sync } = createSyncOperation({ ledger, syncWork, notify, signal });
  return {
    async run(day, options) {
      // With the ledger unavailable, the run would start later, after the visitor got an error.
      await ledger.ping();
      return reviews.start(day, { mode: 'run', trigger: 'manual', ...options });
    },
    async accept({ id }, by) {
      notify({ type: 'volume-accepted', run: await ledger.acceptVolume(id, { at: clock(), by }) });
    },
    look: (day) => reviews.look(day),
    replays,
    cancel: (day, reason) => cancelIn(config, ledger, day, reason),
    sync,
    channels: config.notify.map(({ name, kind }) => ({ name, kind })),
    testChannels: (name) => tryChannels(config, name, { warn, signal }),
    async idle() {
      await Promise.all([replays.idle(), idle()]);
    },
  };
}

function createSyncOperation({
  ledger,
  syncWork,
  notify,
  signal,
}: Pick<OperationParts, 'ledger' | 'syncWork' | 'notify' | 'signal'>): SyncOperation & {
  idle(): Promise<void>;
} {
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
