import { inject } from 'vitest';
import type { RunningCommand } from './command.js';
import type { DayFolder, Settings } from './day-folder.js';
import { distributedEngine } from './distributed-engine.js';
import { embeddedEngine } from './embedded-engine.js';
import type { LedgerTables } from './ledger-tables.js';

export type EngineName = 'embedded' | 'distributed';

/** What a day is reviewed on, and what that changes for those who look on: the same tests run over each. */
export interface Engine {
  readonly name: EngineName;
  /** Processes of `work` beside each `run`. */
  readonly workers: number;
  /** Processes that perform the steps of a day at the same time. */
  readonly performers: number;
  /** What a traced process writes when it was asked to stop and takes nothing more. */
  readonly wordsOfStop: string;
  /**
   * Starts another `run` of the tests' day, which others work on: it is refused, or it joins them. Nothing is sent for it.
   */
  expectSecondRun(folder: DayFolder): Promise<void>;
  /** By how much the token of a run rises when others go on with what a frozen process was delivering. */
  readonly tokensOfTakeOver: number;
  /** Done for the tests' day when its owner is frozen: it is still his, until a person or time ends that. */
  endOwnership(folder: DayFolder): Promise<void>;
  /** Wakes a process that others have gone on without: it writes nothing more of what it had in hand, and says so. */
  expectFencedWhenWoken(frozen: RunningCommand): Promise<void>;
  /** Laid before the arguments of a command whose steps are to be told apart from those of other processes. */
  readonly tracing: readonly string[];
  /** Opens what one folder of a test has for itself. */
  openPlace(folder: { readonly ledgerFile: string }): Promise<EnginePlace>;
}

export interface EnginePlace {
  /** Laid over the usual ones. */
  readonly settings: Settings;
  openTables(): LedgerTables;
  /** All that stands in the queue outside of processes, as a text. */
  readQueue(): Promise<string>;
  /** Called when no command works there any more. */
  close(): Promise<void>;
}

declare module 'vitest' {
  interface ProvidedContext {
    engine: EngineName;
  }
}

export const engine: Engine = choose(inject('engine'));

function choose(name: EngineName): Engine {
  switch (name) {
    case 'embedded':
      return embeddedEngine;
    case 'distributed':
      return distributedEngine;
  }
}
