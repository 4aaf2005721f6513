import { answerWithin, pause } from '../src/base/abort.js';
import { createPatience, needsPerson } from '../src/base/peer-patience.js';
import { describeError } from '../src/base/safe-error.js';
import type { Config } from '../src/config/load.js';
import {
  isLedgerProblem,
  LedgerAwayError,
  type LedgerProblem,
  LedgerUnusableError,
} from '../src/ledger/errors.js';
import type { Ledger } from '../src/ledger/ledger.js';
import { ArchiveAwayError, noteLatestRun } from '../src/review/archive-fit.js';
import { readEveryRun } from '../src/review/every-run.js';
import type { DeliveryKind } from '../src/rules/run.js';
import type { KeyFolder } from '../src/storage/day-keys.js';
import type { App } from './app.js';
import { clock } from './clock.js';
import { findLedger, findMisfitOf, openArchive } from './parts.js';

/** How long a process waits at its end for an archive that does not answer. */
const archiveMs = 10_000;
/** How often a process that works on and on looks at its ledger. */
const lookEveryMs = 60_000;

/** What stands before each run of a process: is its ledger still the right one? */
export type LedgerGate = ReturnType<typeof createLedgerGate>;

export function createLedgerGate(app: App, ledger: Ledger) {
  const { config, caution } = app;
  let problem: LedgerProblem | undefined;
  let awayArchive: ArchiveAwayError | undefined;
  // With a ledger that takes no writes: one that refuses us, the ledger itself bears with.
  const patience = createPatience(clock, true);
  let onProblem: (problem: LedgerProblem) => Promise<void> = async () => {};

  /** Nobody waits until people were told. */
  function note(found: LedgerProblem | undefined): void {
    problem = found;
    if (found) void onProblem(found);
  }

  /** Keeps what is wrong, or that nothing is. @throws what the archive or the ledger throws while it is away */
  async function look(): Promise<void> {
    try {
      await ledger.verify();
      patience.noteSuccess();
      const misfit = await findMisfitOf(config, app.archive(), ledger);
      awayArchive = undefined;
      note(misfit);
    } catch (error) {
      if (error instanceof ArchiveAwayError) awayArchive = error;
      if (!isLedgerProblem(error) && !isGivenUp(error)) throw error;
      note(error);
    }
  }

  function isGivenUp(error: unknown): error is LedgerAwayError {
    return error instanceof LedgerAwayError && patience.judge(error.fault) === 'give-up';
  }

  return {
    /** @throws LedgerUnusableError, KeyError; by file ArchiveAwayError */
    async mayReview(delivery: DeliveryKind): Promise<void> {
      try {
        await look();
      } catch (error) {
        if (!(error instanceof ArchiveAwayError)) throw error;
        // By body nothing else needs the archive.
        if (delivery === 'file') throw error;
        caution(error.message);
      }
      if (problem) throw problem;
      await refuseEmptyFolder(app.keys(), ledger);
    },
    /** Whether the ledger answers, as `Ledger.ping`. */
    async ping(): Promise<void> {
      try {
        await ledger.ping();
      } catch (error) {
        if (error instanceof LedgerUnusableError) note(error);
        throw error;
      }
    },
    /** What the last look found. @throws LedgerProblem */
    async check(): Promise<void> {
      if (problem) throw problem;
    },
    /** Whether runs by file may use the archive: what is only away is reported by them. @throws LedgerProblem, ArchiveAwayError */
    async checkArchive(): Promise<void> {
      if (problem) throw problem;
      if (config.delivery === 'file' && awayArchive && needsPerson(awayArchive.fault)) throw awayArchive;
    },
    /**
     * Looks every minute, and hands on what is wrong, also what a run meets. Never rejects.
     *
     * @param tell never rejects
     */
    async watch(signal: AbortSignal, tell: typeof onProblem): Promise<void> {
      onProblem = tell;
      while (!signal.aborted) {
        // What is away is reported by whoever needs it.
        await look().catch(() => {});
        await pause(lookEveryMs, signal);
      }
    },
  };
}

/**
 * A folder of keys whose volume is not mounted looks new: a run would store its names under a key that nobody has a backup of.
 *
 * @throws KeyError `unusable` if the ledger holds names under keys, and the folder has none
 */
async function refuseEmptyFolder(keys: KeyFolder | undefined, ledger: Ledger): Promise<void> {
  if (!keys || keys.listDays().length > 0) return;
  for await (const { id, namesBlankedAt } of readEveryRun(ledger))
    if (namesBlankedAt === undefined) await ledger.bookings.sampleBatches(id);
}

/**
 * What is wrong with the configured ledger beside the configured archive, before either is worked with; undefined if nothing is, or the
 * archive can't be asked. Creates nothing.
 */
export async function findConfiguredMisfit(config: Config): Promise<LedgerUnusableError | undefined> {
  const ledger = await findLedger(config);
  try {
    return await findMisfitOf(config, openArchive(config), ledger);
  } catch (error) {
    if (error instanceof ArchiveAwayError) return undefined;
    throw error;
  } finally {
    await ledger?.close();
  }
}

/** Tells the archive of each run that this process ends, and when it is asked to. Closing waits until it was told of the last one. */
export function keepArchiveTold(app: App, ledger: Ledger) {
  let telling = Promise.resolve();
  let isAskedAgain = false;

  async function tell(): Promise<void> {
    isAskedAgain = false;
    try {
      await answerWithin(archiveMs, noteLatestRun(app.archive(), ledger));
    } catch (error) {
      app.warn(
        `the archive ${app.archive().path} could not be told of the latest run: ${describeError(error)}; the next run tries again`,
      );
    }
  }

  app.observe((event) => {
    if (event.type !== 'settled' || event.run.finishedAt === undefined || isAskedAgain) return;
    isAskedAgain = true;
    telling = telling.then(tell);
  });
  return {
    /** Never rejects: by body, nothing else needs the archive. */
    tell,
    close: () => telling,
  };
}
