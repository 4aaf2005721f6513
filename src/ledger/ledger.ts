import type { Hold } from '../base/abort.js';
import type { CaseDecision, CaseKey, HeldCase } from '../rules/case.js';
import type { CollectRequest, Decide } from '../rules/changes.js';
import type { Claimed, Outcome, Recorded, Right, SharedRight } from '../rules/step.js';
import * as audit from './audit.js';
import * as batches from './batches.js';
import * as canaries from './canaries.js';
import * as cases from './cases.js';
import { beginCollect, type CollectStart } from './collecting.js';
import { LedgerUnusableError } from './errors.js';
import * as followed from './followed-runs.js';
import * as guests from './guests.js';
import * as hotels from './hotels.js';
import * as identity from './identity.js';
import * as mails from './mails.js';
import * as syncing from './mapping-syncs.js';
import * as mapped from './mappings.js';
import * as notices from './notices.js';
import { type Bound, bind, type Store, stopping, type Way } from './query.js';
import * as rejects from './rejects.js';
import * as runChanges from './run-changes.js';
import * as runs from './runs.js';
import * as stays from './stays.js';
import * as steps from './steps.js';
import * as days from './stored-outcomes.js';
import * as suspects from './suspects.js';
import type { SchemaWords } from './table.js';
import * as tracing from './tracing.js';
import * as verdicts from './verdicts.js';
import * as wanted from './wanted-days.js';
import * as workers from './workers.js';

/**
 * The database with every run, step and booking and its state: the source of truth.
 *
 * Bookings are stored by batch, in the bytes in which they are sent. All instants are epoch milliseconds. With PostgreSQL
 * every operation may throw LedgerUnusableError, LedgerAwayError or LedgerFullError.
 */
export interface Ledger extends ReturnType<typeof createLedger> {}

/** A read-only ledger, for looking at runs while other processes work. That somebody looked is recorded all the same. */
export interface ReadOnlyLedger extends ReturnType<typeof createReadOnlyLedger> {}

/** How the process is connected to its database. */
export interface Connection {
  /** Rejects if the ledger can't be reached; settles within two seconds either way. */
  ping(): Promise<void>;
  /** @throws LedgerUnusableError once the file is not the one that was opened, or a newer version has changed the schema */
  verify(): Promise<void>;
  /** How many connections the server takes, and how many others than ours it has; absent where there is no server. */
  countConnections?(): Promise<{ readonly max: number; readonly otherClients: number }>;
  close(): Promise<void>;
}

/** What each database does in its own way: rights that end with their owner, and the claims of steps. */
export interface Engine extends Connection {
  /** Takes an exclusive right without waiting; undefined if a live process holds it. */
  hold(name: string): Promise<Hold | undefined>;
  /** How long a hold can outlive its owner; 0 if the kernel holds the lock, which ends with its owner. */
  readonly staleHoldMs: number;
  readonly claims: {
    /**
     * Claims a step, and returns it with its run and its bookings. Without a token it uses the current one: processes that
     * share a run may perform whatever step they are handed.
     *
     * Undefined if the step is not open, the attempt is stale, or the run is no longer ours, active or in this ledger.
     */
    claim(right: SharedRight, step: string, attempt: number, at: number): Promise<Claimed | undefined>;
    /** Records what an attempt found, and applies what is decided about it. @throws FencedError under an outdated claim. */
    record(claim: Claimed, outcome: Outcome, at: number, decide: Decide): Promise<Recorded>;
  };
}

const { latestRequest, latestFetched, rememberRequest, rememberFetched, ...copyAndWatch } = mapped;
const { nextMoves, finishMoves, readMasterHotels, ...copy } = copyAndWatch;
const { readReadableBatches, ...ownBatches } = batches;

/** What the files of the entities export: each query becomes a method, each table is in the schema. */
const areas = {
  runs: { ...runs, ...runChanges },
  wanted,
  days,
  steps,
  bookings: { ...ownBatches, ...suspects, ...tracing, ...verdicts },
  stays: { ...stays, readReadableBatches },
  rejects,
  canaries,
  guests,
  mappings: { ...copy, ...syncing },
  exports: { latestRequest, latestFetched, rememberRequest, rememberFetched },
  watch: { nextMoves, finishMoves, readMasterHotels },
  hotels,
  audit,
  cases: { ...cases, ...followed },
  mails,
  notices,
  workers,
};

type BoundAreas<Chosen extends Way> = {
  readonly [Area in keyof typeof areas]: Bound<(typeof areas)[Area], Chosen>;
};

/** The methods of each area that are performed in one of these ways. */
function bindAreas<Chosen extends Way>(store: Store, ways?: readonly Chosen[]): BoundAreas<Chosen> {
  const bound: Record<string, unknown> = {};
  for (const [name, queries] of Object.entries<object>(areas)) bound[name] = bind(store, queries, ways);
  return bound as BoundAreas<Chosen>;
}

const reading = ['read', 'readTogether', 'walk'] as const;

export function createReadOnlyLedger(store: Store, connection: Connection) {
  const { ping, verify, close, countConnections } = connection;
  const bound = bindAreas(store, reading);
  return {
    ping,
    verify,
    close,
    countConnections,
    /** The same ledger for somebody who may leave: see `stopping`. */
    stoppedBy: (signal: AbortSignal): ReadOnlyLedger =>
      createReadOnlyLedger(stopping(store, signal), connection),
    ...bind(store, identity, reading),
    ...bound,
    // That somebody looked is recorded, too.
    audit: { ...bound.audit, ...bind(store, { record: audit.record }) },
  };
}

export function createLedger(store: Store, engine: Engine, clock: () => number) {
  const { transact } = store;
  const reader = createReadOnlyLedger(store, engine);
  const bound = bindAreas<Way>(store);
  const holdDay = (day: string) => engine.hold(guests.nameOfHeldDay(day));
  return {
    ...reader,
    stoppedBy: (signal: AbortSignal): Ledger => createLedger(stopping(store, signal), engine, clock),
    ...bind(store, identity),
    ...bound,
    holds: {
      staleMs: engine.staleHoldMs,
      day: holdDay,
      /** Takes one of that many permits for concurrent runs, over all processes; undefined while all are taken. */
      async permit(permits: number): Promise<Hold | undefined> {
        for (let number = 1; number <= permits; number += 1) {
          const hold = await engine.hold(`permit-${number}`);
          if (hold) return hold;
        }
        return undefined;
      },
    },
    runs: {
      ...bound.runs,
      takeOver: (runId: string, asked?: CollectRequest) =>
        transact(() => runChanges.takeOver(runId, clock(), asked)),
    },
    steps: { ...bound.steps, ...engine.claims },
    bookings: {
      ...bound.bookings,
      beginCollect: (right: Right, collect: CollectStart) => beginCollect(store, right, collect),
    },
    guests: {
      ...bound.guests,
      ...guests.createRetention(store, clock, holdDay),
    },
    mappings: {
      ...bound.mappings,
      /** Takes the exclusive right to sync; undefined while a live process holds it. */
      holdSync: () => engine.hold('mappings-sync'),
    },
    hotels: {
      ...bound.hotels,
      /** Takes the exclusive right to load without waiting; undefined while a live process holds it. */
      holdLoad: () => engine.hold('hotels-load'),
    },
    cases: {
      ...bound.cases,
      changeByKey: <Key extends CaseKey>(
        keys: readonly Key[],
        decide: (held: HeldCase | undefined, key: Key) => CaseDecision | undefined,
      ) => transact(() => cases.changeByKey(keys, decide)),
    },
    notices: { ...bound.notices, ...notices.createNotices(store) },
  };
}

const firstRows = ({ randomText }: SchemaWords) => [
  'INSERT INTO watched_moves (last_move) VALUES (0)',
  `INSERT INTO ledger_identity (id) VALUES (${randomText})`,
];

/**
 * The schema of version 1: all tables that the files of the entities export. A released version is never changed: later ones are scripts
 * of their own, in `versions` of each database, as are indexes of which the databases need another form.
 */
export function createTables(words: SchemaWords): string {
  const tables = Object.values({ ...areas, identity }).flatMap((area) =>
    Object.values<unknown>({ ...area }).flatMap((found) => (isTable(found) ? [found.schema(words)] : [])),
  );
  // What others refer to refers to nothing itself, and comes first.
  const ordered = tables.sort((one, other) => countReferences(one) - countReferences(other));
  return `${[...ordered.flat(), ...firstRows(words)].join(';\n')};\n`;
}

const countReferences = (statements: readonly string[]) => Number(statements.join().includes('REFERENCES'));

function isTable(found: unknown): found is { schema(words: SchemaWords): string[] } {
  return typeof found === 'object' && found !== null && 'schema' in found;
}

/** @throws LedgerUnusableError for the schema of a newer version of this program */
export function expectKnown(version: number, newest: number, location: string): void {
  if (version <= newest) return;
  throw new LedgerUnusableError(
    location,
    `expected schema ${newest} or older, got: schema ${version}; install the newer version that wrote it`,
  );
}
