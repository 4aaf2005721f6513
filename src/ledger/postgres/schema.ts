import { LedgerUnusableError } from '../ledger.js';
import type { Session } from './session.js';

/**
 * The migrations, in order; the table of that name counts those that the database has. One that was released is never
 * changed: a new one is appended. All of it stands in a schema of its own, so that it can share a database.
 *
 * Bookings are kept by batch, in the bytes in which they are sent, with pages of (hash of the reference, position)
 * beside them. Texts are compared by their bytes, whatever the database's collation.
 */
const migrations: readonly string[] = [
  `
  CREATE TABLE hotel_review.runs (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    day text COLLATE "C" NOT NULL,
    delivery text NOT NULL CHECK (delivery IN ('body', 'file')),
    trigger text NOT NULL CHECK (trigger IN ('schedule', 'hook', 'manual', 'replay')),
    reason text,
    tops_up boolean NOT NULL DEFAULT false,
    state text NOT NULL CHECK (
      state IN ('collecting', 'delivering', 'awaiting-result', 'succeeded', 'failed', 'cancelled')
    ),
    token integer NOT NULL DEFAULT 1,
    source text,
    batch_size integer,
    chunks integer NOT NULL DEFAULT 0,
    started_at bigint NOT NULL,
    collect_started_at bigint,
    collected_at bigint,
    finished_at bigint,
    names_blanked_at bigint,
    pruned_at bigint,
    read integer NOT NULL DEFAULT 0,
    accepted integer NOT NULL DEFAULT 0,
    duplicates integer NOT NULL DEFAULT 0,
    rejected integer NOT NULL DEFAULT 0,
    delivered integer NOT NULL DEFAULT 0,
    refused integer NOT NULL DEFAULT 0,
    repeated integer NOT NULL DEFAULT 0,
    affected integer NOT NULL DEFAULT 0,
    open_steps integer NOT NULL DEFAULT 0,
    failed_steps integer NOT NULL DEFAULT 0,
    failures_in_row integer NOT NULL DEFAULT 0,
    failure_class text,
    failure_code text,
    failure_message text,
    file text
  );
  CREATE UNIQUE INDEX one_active_run_per_day ON hotel_review.runs (day)
    WHERE state IN ('collecting', 'delivering', 'awaiting-result');
  CREATE INDEX runs_by_day ON hotel_review.runs (day, number);

  CREATE TABLE hotel_review.batches (
    run bigint NOT NULL REFERENCES hotel_review.runs (number),
    form text COLLATE "C" NOT NULL CHECK (form IN ('body', 'file')),
    batch integer NOT NULL,
    bookings integer NOT NULL,
    lines bytea NOT NULL,
    PRIMARY KEY (run, form, batch)
  );

  CREATE TABLE hotel_review.reference_pages (
    run bigint NOT NULL REFERENCES hotel_review.runs (number),
    form text COLLATE "C" NOT NULL,
    first_hash bigint NOT NULL,
    last_hash bigint NOT NULL,
    page integer NOT NULL,
    entries bytea NOT NULL,
    PRIMARY KEY (run, form, first_hash, last_hash, page)
  );
  -- Hashes don't shrink, and a page is small enough to stand in the table itself.
  ALTER TABLE hotel_review.reference_pages ALTER COLUMN entries SET STORAGE EXTERNAL;

  CREATE TABLE hotel_review.rejects (
    run bigint NOT NULL REFERENCES hotel_review.runs (number),
    place bigint NOT NULL,
    reason text NOT NULL,
    reference text COLLATE "C"
  );
  CREATE INDEX rejects_by_run ON hotel_review.rejects (run);
  CREATE INDEX rejects_by_reference ON hotel_review.rejects USING hash (reference) WHERE reference IS NOT NULL;

  CREATE TABLE hotel_review.warnings (
    run bigint NOT NULL REFERENCES hotel_review.runs (number),
    reason text COLLATE "C" NOT NULL,
    count integer NOT NULL,
    first_place bigint,
    PRIMARY KEY (run, reason)
  );

  CREATE TABLE hotel_review.steps (
    run bigint NOT NULL REFERENCES hotel_review.runs (number),
    name text COLLATE "C" NOT NULL,
    position integer NOT NULL,
    kind text NOT NULL CHECK (kind IN ('batch', 'write', 'upload', 'trigger', 'await-result', 'archive')),
    state text NOT NULL CHECK (state IN ('waiting', 'ready', 'running', 'done', 'refused', 'failed', 'halved', 'overdue')),
    after text COLLATE "C",
    form text COLLATE "C",
    batch integer,
    first integer,
    bookings integer NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    tries integer NOT NULL DEFAULT 0,
    waits integer NOT NULL DEFAULT 0,
    repeated integer NOT NULL DEFAULT 0,
    outcome_unknown boolean NOT NULL DEFAULT false,
    may_repeat boolean NOT NULL DEFAULT false,
    not_before bigint,
    token integer,
    claimed_at bigint,
    claim_id uuid,
    lease_until timestamptz,
    ended_at bigint,
    last_code text,
    PRIMARY KEY (run, name)
  );
  CREATE UNIQUE INDEX steps_by_position ON hotel_review.steps (run, position, name);
  CREATE INDEX steps_by_predecessor ON hotel_review.steps (run, after) WHERE after IS NOT NULL;
  CREATE INDEX steps_by_slice ON hotel_review.steps (run, form, batch);

  CREATE TABLE hotel_review.affected (
    run bigint NOT NULL REFERENCES hotel_review.runs (number),
    batch integer NOT NULL,
    places bytea NOT NULL,
    PRIMARY KEY (run, batch)
  );

  CREATE TABLE hotel_review.attempts (
    run bigint NOT NULL REFERENCES hotel_review.runs (number),
    step text COLLATE "C" NOT NULL,
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
  );

  CREATE TABLE hotel_review.holds (
    name text COLLATE "C" PRIMARY KEY,
    holder uuid NOT NULL,
    lease_until timestamptz NOT NULL
  );

  CREATE TABLE hotel_review.hook_requests (
    id text COLLATE "C" PRIMARY KEY,
    run_id text NOT NULL,
    at bigint NOT NULL
  );
  CREATE INDEX hook_requests_by_time ON hotel_review.hook_requests (at);

  -- What was blanked or removed is to leave the disk soon, not when a fifth of the table has gone.
  ALTER TABLE hotel_review.batches SET (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
    toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 10000
  );
  -- Few rows of these are written often: room in each page keeps their indexes as they are.
  ALTER TABLE hotel_review.runs SET (fillfactor = 50);
  ALTER TABLE hotel_review.steps SET (fillfactor = 70);

  -- Where the server was built with it, lz4 costs less time than the bytes it saves.
  DO $$
  BEGIN
    EXECUTE 'ALTER TABLE hotel_review.batches ALTER COLUMN lines SET COMPRESSION lz4';
  EXCEPTION WHEN OTHERS THEN
    NULL;
  END
  $$;
  `,
];

/** One lock for all who would migrate the same database: the letters `hotl`. */
const migrationLock = 0x68_6f_74_6c;

/**
 * Brings the schema up to date, inside a transaction.
 *
 * @param place of the database, for messages
 * @throws LedgerUnusableError when a newer version of this program wrote it, or another program
 */
export async function migrate(session: Session, place: string): Promise<void> {
  if ((await readSchema(session, place)).migrations === migrations.length) return;
  await session.run('SELECT pg_advisory_xact_lock($1)', migrationLock);
  const { migrations: present, isThere } = await readSchema(session, place);
  if (present === migrations.length) return;
  if (!isThere) await session.run('CREATE SCHEMA hotel_review');
  if (present === 0) {
    await session.run(
      'CREATE TABLE hotel_review.migrations (number integer PRIMARY KEY, at timestamptz NOT NULL)',
    );
  }
  for (const [index, migration] of migrations.entries()) {
    if (index < present) continue;
    await session.script(migration);
    await session.run('INSERT INTO hotel_review.migrations (number, at) VALUES ($1, now())', index + 1);
  }
}

/**
 * Tells whether there is a ledger that can be looked into, and changes nothing.
 *
 * @throws LedgerUnusableError when it can't be read by this version, or is no ledger
 */
export async function isLedgerThere(session: Session, place: string): Promise<boolean> {
  const { migrations: present } = await readSchema(session, place);
  if (present === 0 || present === migrations.length) return present > 0;
  throw new LedgerUnusableError(
    place,
    `expected schema ${migrations.length}, got: schema ${present}, of an older version; start a run with this one, which brings it up to date`,
  );
}

interface FoundSchema {
  /** How many migrations it has. */
  readonly migrations: number;
  /** Whether somebody has made the schema, be it empty. */
  readonly isThere: boolean;
}

async function readSchema(session: Session, place: string): Promise<FoundSchema> {
  const found = await session.row(
    `SELECT
       (SELECT count(*)::int FROM pg_namespace WHERE nspname = 'hotel_review') AS schemas,
       (SELECT count(*)::int FROM pg_class WHERE relnamespace = to_regnamespace('hotel_review')) AS things,
       (SELECT count(*)::int FROM pg_class WHERE relnamespace = to_regnamespace('hotel_review')
          AND relkind = 'r' AND relname IN ('migrations', 'runs', 'steps', 'holds')) AS ours,
       current_setting('server_encoding') AS encoding`,
  );
  if (found?.encoding !== 'UTF8') {
    throw new LedgerUnusableError(
      place,
      `expected a database in the encoding UTF8, got: ${String(found?.encoding)}; make one with createdb --encoding UTF8`,
    );
  }
  const isThere = found.schemas === 1;
  if (found.things === 0) return { migrations: 0, isThere };
  if (found.ours !== 4) {
    throw new LedgerUnusableError(
      place,
      'expected a schema hotel_review that is a ledger or is not there, got: one of another program; name another database with the setting ledger',
    );
  }
  const count = await session.row('SELECT coalesce(max(number), 0) AS number FROM hotel_review.migrations');
  const present = Number(count?.number);
  if (present > migrations.length) {
    throw new LedgerUnusableError(
      place,
      `expected schema ${migrations.length} or older, got: schema ${present}; install the newer version that wrote it`,
    );
  }
  return { migrations: present, isThere };
}
