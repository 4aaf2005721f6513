import type { App } from '../../../jobs/app.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import type { Run } from '../../../src/rules/run.js';
import type { createChannels } from '../channels.js';
import type { Choices } from '../choices.js';
import type { Guest } from '../guests.js';
import type { Entry } from '../journal.js';
import type { MappingTable } from '../mappings.js';
import type { Answer, Work } from '../product.js';
import type { ResultFile } from '../results.js';
import type { Trouble } from '../trouble.js';

/** What every event has. */
export interface OfDay {
  /** The number of the business day that it is about. */
  readonly day: number;
}

/** One kind of event: how it comes about at random, how it is told, and how it happens. */
export interface EventKind<Event extends OfDay> {
  /** How often it begins a day, and how often it follows on one, compared with other kinds. */
  readonly weights: { readonly opening?: number; readonly following?: number };
  /** All kinds of things that it brings about: two events that follow each other make pairs of them. */
  readonly kinds: readonly string[];
  make(plan: Plan, choices: Choices): Event;
  kindsOf(event: Event): readonly string[];
  tell(event: Event): string;
  /** Events that are a little less, for a history that is shortened. */
  listSmaller?(event: Event): Iterable<Event>;
  /** Returns what went wrong on the way, if the history wants something to; undefined for nothing. */
  live(event: Event, stage: Stage): Promise<string | undefined>;
  /** When it can happen; in the night after its day if absent. */
  isOnItsDay?(event: Event): boolean;
}

/** A day that is to be filled with events. */
export interface Plan extends OfDay {
  /** Both rooms of a booking are booked on it. */
  readonly hasBoth: boolean;
  readonly isBegun: boolean;
  /** Who was in its export the last time. */
  readonly source: readonly Guest[];
}

/** What an event works with: the world on its day. */
export interface Stage {
  /** The number of the day, and as YYYY-MM-DD. */
  readonly day: number;
  readonly iso: string;
  readonly journal: Entry[];
  readonly ledger: Ledger;
  readonly app: App;
  /** What lies in the export of each day. */
  readonly sources: Map<number, readonly Guest[]>;
  readonly channels: ReturnType<typeof createChannels>;
  /** Of the service. */
  readonly mappings: MappingTable;
  readonly clock: () => number;
  /** Lets time pass until then. */
  reach(instant: number): void;
  /** Writes the day's export; without a text it is not there. */
  writeExport(text: string | undefined): void;
  /** What the service writes about the next file that it gets. @param isFollowed whether another process follows up runs at each look */
  expectResults(results: readonly ResultFile[], isFollowed: boolean): void;
  /** How many steps of a run are performed at once, in this event. */
  useWorkers(count: number): void;
  /** Has it written now, about the file that it got last. */
  writeResults(results: readonly ResultFile[]): void;
  /** Notes the results that the day's latest run has looked at. */
  noteResults(): void;
  findLatest(): Promise<Run | undefined>;
  /** One process from its start to its end. Returns what went wrong. */
  liveProcess(work: Work, trouble?: Trouble): Promise<string | undefined>;
  /** The same, and after trouble as often as it takes. */
  workOn(work: Work, trouble?: Trouble): Promise<string | undefined>;
  /** A command with `--json`, without trouble. */
  ask(...words: string[]): Promise<Answer>;
  /**
   * Puts in the ledger's place what it was so many events ago, or nothing. The archive, the spool, the server and the service keep
   * what they have.
   */
  restoreLedger(to: number | 'gone'): Promise<void>;
  /** The same on another day, with its export as it should be. */
  workOnDay(day: number, work: (iso: string) => Work): Promise<Run | undefined>;
  /** The runs that have files in the archive, beside what is kept of each. */
  listArchived(): readonly string[];
  /** Whether a guest's booking was sent on that day, as it is, as far as the ledger can know. */
  wasSent(guest: Guest, day: number): boolean;
}
