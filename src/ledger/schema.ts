import { LedgerUnusableError } from './errors.js';
import { lastingTables } from './lasting-tables.js';

/**
 * The schema of version 1, in the order in which a day passes through it: first what belongs to a run. A released version
 * is never changed: later ones are scripts of their own, see `schema.ts` of each database.
 *
 * It is SQLite's, except for these words, which each database replaces: `rownumber` is a primary key that the database
 * counts up; `bigint` and `bytes` are types; `clocktime` is an instant by the clock that decides which claims are
 * abandoned. Indexes of which the databases need another form are in `schema.ts` of each.
 */
const tables: readonly string[] = [
  // A row of a run is short and often updated, so what else is known about its file is one text of JSON, in `file`.
  `CREATE TABLE runs (
    number rownumber,
    id text NOT NULL UNIQUE,
    day text NOT NULL,
    delivery text NOT NULL CHECK (delivery IN ('body', 'file')),
    trigger text NOT NULL CHECK (trigger IN ('schedule', 'hook', 'manual', 'replay', 'today', 'watch')),
    reason text,
    tops_up integer NOT NULL DEFAULT 0,
    state text NOT NULL
      CHECK (state IN ('collecting', 'delivering', 'awaiting-result', 'succeeded', 'failed', 'cancelled')),
    cancel_reason text,
    token integer NOT NULL DEFAULT 1,
    source text,
    guest_names text NOT NULL DEFAULT 'send',
    batch_size integer,
    started_at bigint NOT NULL,
    collect_started_at bigint,
    collected_at bigint,
    finished_at bigint,
    names_blanked_at bigint,
    lines_blanked integer NOT NULL DEFAULT 0,
    pruned_at bigint,
    read integer NOT NULL DEFAULT 0,
    accepted integer NOT NULL DEFAULT 0,
    duplicates integer NOT NULL DEFAULT 0,
    rejected integer NOT NULL DEFAULT 0,
    filtered integer NOT NULL DEFAULT 0,
    posted integer NOT NULL DEFAULT 0,
    suspects integer,
    expected integer,
    day_accepted bigint,
    providers text,
    volume text,
    volume_acceptance text,
    accepts_repeated integer NOT NULL DEFAULT 0,
    delivered integer NOT NULL DEFAULT 0,
    refused integer NOT NULL DEFAULT 0,
    repeated integer NOT NULL DEFAULT 0,
    open_steps integer NOT NULL DEFAULT 0,
    failed_steps integer NOT NULL DEFAULT 0,
    failures_in_row integer NOT NULL DEFAULT 0,
    failure_class text,
    failure_code text,
    failure_message text,
    file text,
    -- How many chunks of its collect are stored: one whose answer was lost is not stored twice.
    chunks integer NOT NULL DEFAULT 0
  ) STRICT`,
  `CREATE UNIQUE INDEX one_active_run_per_day ON runs (day, (trigger = 'watch'))
    WHERE state IN ('collecting', 'delivering', 'awaiting-result')`,
  'CREATE INDEX runs_by_day ON runs (day, number)',

  // Which run a request of the end-of-day hook has started: a repeated request starts none.
  `CREATE TABLE hook_requests (
    id text PRIMARY KEY,
    run_id text NOT NULL,
    at bigint NOT NULL
  ) STRICT, WITHOUT ROWID`,

  // Bookings by batch, in the bytes in which they are sent: three times as fast to load as one row per booking.
  `CREATE TABLE batches (
    run bigint NOT NULL REFERENCES runs (number),
    form text NOT NULL CHECK (form IN ('body', 'file')),
    batch integer NOT NULL,
    bookings integer NOT NULL,
    lines bytes NOT NULL,
    PRIMARY KEY (run, form, batch)
  ) STRICT`,

  // Columns of the source that are kept beside the lines of a batch, but not sent.
  `CREATE TABLE kept_columns (
    run bigint NOT NULL REFERENCES runs (number),
    form text NOT NULL,
    batch integer NOT NULL,
    kept bytes NOT NULL,
    PRIMARY KEY (run, form, batch)
  ) STRICT`,

  // Pages of (hash of the reference, position). They are written once they are sorted: no index is maintained while a day
  // is loaded.
  `CREATE TABLE reference_pages (
    run bigint NOT NULL REFERENCES runs (number),
    form text NOT NULL,
    first_hash bigint NOT NULL,
    last_hash bigint NOT NULL,
    page integer NOT NULL,
    entries bytes NOT NULL,
    PRIMARY KEY (run, form, first_hash, last_hash, page)
  ) STRICT`,

  // The same by provider hotel, with the last day of the stay.
  `CREATE TABLE stay_pages (
    run bigint NOT NULL REFERENCES runs (number),
    form text NOT NULL,
    first_hash bigint NOT NULL,
    last_hash bigint NOT NULL,
    page integer NOT NULL,
    first_position bigint NOT NULL,
    latest_day integer NOT NULL,
    entries bytes NOT NULL,
    PRIMARY KEY (run, form, first_hash, last_hash, page)
  ) STRICT`,

  `CREATE TABLE rejects (
    run bigint NOT NULL REFERENCES runs (number),
    place bigint NOT NULL,
    reason text NOT NULL,
    reference text,
    field text,
    value text
  ) STRICT`,
  'CREATE INDEX rejects_by_run ON rejects (run)',

  `CREATE TABLE warnings (
    run bigint NOT NULL REFERENCES runs (number),
    reason text NOT NULL,
    count integer NOT NULL,
    first_place bigint,
    PRIMARY KEY (run, reason)
  ) STRICT, WITHOUT ROWID`,

  // Accepted bookings whose mapping differs from the one that they were booked with.
  `CREATE TABLE suspects (
    run bigint NOT NULL REFERENCES runs (number),
    form text NOT NULL,
    batch integer NOT NULL,
    place integer NOT NULL,
    reason text NOT NULL CHECK (reason IN ('other-master', 'moved')),
    service_id bigint,
    moved_at bigint,
    PRIMARY KEY (run, form, batch, place)
  ) STRICT, WITHOUT ROWID`,

  // The plan of a run. A step is claimed for a lease, under the token of its run.
  `CREATE TABLE steps (
    run bigint NOT NULL REFERENCES runs (number),
    name text NOT NULL,
    position integer NOT NULL,
    kind text NOT NULL
      CHECK (kind IN ('batch', 'write', 'upload', 'trigger', 'await-result', 'archive', 'canary')),
    state text NOT NULL
      CHECK (state IN ('waiting', 'ready', 'running', 'done', 'refused', 'failed', 'halved', 'overdue')),
    after text,
    form text,
    batch integer,
    first integer,
    bookings integer NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    tries integer NOT NULL DEFAULT 0,
    waits integer NOT NULL DEFAULT 0,
    repeated integer NOT NULL DEFAULT 0,
    outcome_unknown integer NOT NULL DEFAULT 0,
    not_before bigint,
    token integer,
    claimed_at bigint,
    lease_until clocktime,
    ended_at bigint,
    last_code text,
    PRIMARY KEY (run, name)
  ) STRICT, WITHOUT ROWID`,
  'CREATE UNIQUE INDEX steps_by_position ON steps (run, position, name)',
  'CREATE INDEX steps_by_predecessor ON steps (run, after) WHERE after IS NOT NULL',
  'CREATE INDEX steps_by_slice ON steps (run, form, batch)',

  // What every attempt of a step has met.
  `CREATE TABLE attempts (
    run bigint NOT NULL REFERENCES runs (number),
    step text NOT NULL,
    attempt integer NOT NULL,
    started_at bigint NOT NULL,
    ended_at bigint NOT NULL,
    outcome text NOT NULL,
    code text NOT NULL,
    http_status integer,
    status_code integer,
    answer text,
    sha256 text,
    PRIMARY KEY (run, step, attempt)
  ) STRICT, WITHOUT ROWID`,

  // The bookings of a batch of which the result says the same, unless it calls their mapping correct.
  `CREATE TABLE verdicts (
    run bigint NOT NULL REFERENCES runs (number),
    batch integer NOT NULL,
    judged text NOT NULL CHECK (judged IN ('incorrect', 'not-in-result', 'unclear')),
    places bytes NOT NULL,
    PRIMARY KEY (run, batch, judged)
  ) STRICT, WITHOUT ROWID`,

  // The made-up booking of a run that has to be named as incorrect in time.
  `CREATE TABLE canaries (
    run bigint PRIMARY KEY REFERENCES runs (number),
    reference text NOT NULL UNIQUE,
    line text NOT NULL,
    within_ms bigint NOT NULL,
    named_at bigint,
    reported_at bigint
  ) STRICT`,

  // The runs whose verdicts have become cases, and whether all of them have.
  `CREATE TABLE followed_runs (
    run bigint PRIMARY KEY REFERENCES runs (number),
    is_complete integer NOT NULL
  ) STRICT`,

  ...lastingTables,
];

/** A word of the schema, and what it is in a database. */
export type Replacement = readonly [word: string | RegExp, by: string];

export function createTables(replacements: readonly Replacement[]): string {
  return replacements.reduce((sql, [word, by]) => sql.replaceAll(word, by), `${tables.join(';\n')};\n`);
}

/** @throws LedgerUnusableError for the schema of a newer version of this program */
export function expectKnown(version: number, newest: number, place: string): void {
  if (version <= newest) return;
  throw new LedgerUnusableError(
    place,
    `expected schema ${newest} or older, got: schema ${version}; install the newer version that wrote it`,
  );
}

/** The ledgers of 0.1.0 had another form, and their own count of versions. */
export const ledgerOfBefore =
  'expected a ledger of version 1.0, got: one of an earlier version; finish its runs with that version, then start a new ledger';
