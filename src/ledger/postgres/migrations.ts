/**
 * The migrations, in order; the table of that name lists those that were applied. A released migration is never
 * changed: append a new one. Everything is in a schema of its own, so that the ledger can share a database.
 *
 * Bookings are stored by batch, in the bytes in which they are sent, with pages of (hash of the reference, position)
 * beside them. Texts are compared by their bytes, whatever the database's collation.
 */
export const migrations: readonly string[] = [
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
  -- Hashes don't shrink, and a page is small enough to be stored in the table itself.
  ALTER TABLE hotel_review.reference_pages ALTER COLUMN entries SET STORAGE EXTERNAL;

  CREATE TABLE hotel_review.rejects (
    run bigint NOT NULL REFERENCES hotel_review.runs (number),
    place bigint NOT NULL,
    reason text NOT NULL,
    reference text COLLATE "C"
  );
  CREATE INDEX rejects_by_run ON hotel_review.rejects (run);
  -- A rejected reference can have any length; an index entry can't.
  CREATE INDEX rejects_by_reference ON hotel_review.rejects (left(reference, 200)) WHERE reference IS NOT NULL;

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

  -- Blanked and removed rows must leave the disk soon, not only once a fifth of the table is gone.
  ALTER TABLE hotel_review.batches SET (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
    toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 10000
  );
  -- A few of these rows are updated often: free space in each page keeps their indexes unchanged.
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
  `
  ALTER TABLE hotel_review.runs ADD COLUMN suspects integer, ADD COLUMN filled_in integer;

  CREATE TABLE hotel_review.suspects (
    run bigint NOT NULL REFERENCES hotel_review.runs (number),
    form text COLLATE "C" NOT NULL,
    batch integer NOT NULL,
    place integer NOT NULL,
    reason text NOT NULL CHECK (reason IN ('other-master', 'moved', 'filled-in')),
    service_id bigint,
    moved_at bigint,
    PRIMARY KEY (run, form, batch, place)
  );

  CREATE TABLE hotel_review.mappings (
    number bigint PRIMARY KEY,
    provider_name text COLLATE "C" NOT NULL,
    provider_hotel_id text COLLATE "C" NOT NULL,
    service_id bigint,
    location_code text,
    channel_ids text NOT NULL,
    first_seen_at bigint NOT NULL,
    moved_at bigint
  );
  -- A hotel's id can have any length; an index entry can't. Writers hold a lock, so no hotel is inserted twice.
  CREATE INDEX mappings_by_hotel ON hotel_review.mappings (left(provider_name, 200), left(provider_hotel_id, 200));

  CREATE TABLE hotel_review.mapping_moves (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    mapping bigint NOT NULL REFERENCES hotel_review.mappings (number),
    from_service_id bigint,
    to_service_id bigint,
    seen_at bigint NOT NULL
  );
  CREATE INDEX moves_by_mapping ON hotel_review.mapping_moves (mapping);

  CREATE TABLE hotel_review.master_hotels (
    number bigint PRIMARY KEY,
    service_id bigint NOT NULL UNIQUE,
    provider_name text NOT NULL,
    provider_hotel_id text NOT NULL,
    seen_at bigint NOT NULL,
    told_at bigint
  );
  CREATE INDEX untold_hotels ON hotel_review.master_hotels (number) WHERE told_at IS NULL;

  CREATE TABLE hotel_review.mapping_syncs (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    sync_id text COLLATE "C" NOT NULL UNIQUE,
    scope text COLLATE "C" NOT NULL,
    since bigint NOT NULL,
    keeps_since bigint,
    begun_at bigint NOT NULL,
    resume_key text,
    last_page text,
    service_began_at bigint,
    ended_at bigint,
    given_up_at bigint,
    pages bigint NOT NULL DEFAULT 0,
    read bigint NOT NULL DEFAULT 0,
    added bigint NOT NULL DEFAULT 0,
    moved bigint NOT NULL DEFAULT 0,
    updated bigint NOT NULL DEFAULT 0,
    deleted bigint NOT NULL DEFAULT 0,
    unchanged bigint NOT NULL DEFAULT 0,
    new_hotels bigint NOT NULL DEFAULT 0,
    restarts bigint NOT NULL DEFAULT 0
  );
  CREATE INDEX syncs_by_scope ON hotel_review.mapping_syncs (scope, number);
  CREATE UNIQUE INDEX one_open_sync_per_scope ON hotel_review.mapping_syncs (scope)
    WHERE ended_at IS NULL AND given_up_at IS NULL;

  CREATE TABLE hotel_review.export_requests (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    requested_at bigint NOT NULL,
    service_time bigint,
    providers text NOT NULL
  );

  CREATE TABLE hotel_review.fetched_exports (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    fetched_at bigint NOT NULL,
    providers text NOT NULL,
    files text NOT NULL
  );
  `,
  `
  ALTER TABLE hotel_review.runs
    ADD COLUMN filtered integer NOT NULL DEFAULT 0,
    ADD COLUMN posted integer NOT NULL DEFAULT 0,
    ADD COLUMN providers text,
    ADD COLUMN expected integer,
    ADD COLUMN accepts_volume boolean NOT NULL DEFAULT false,
    ADD COLUMN cancel_reason text,
    ADD COLUMN volume text;
  UPDATE hotel_review.runs SET posted = (
    SELECT coalesce(sum(bookings), 0) FROM hotel_review.batches WHERE run = number AND form = 'body'
  ) WHERE delivery = 'file';

  ALTER TABLE hotel_review.rejects ADD COLUMN field text, ADD COLUMN value text;

  CREATE TABLE hotel_review.verdicts (
    run bigint NOT NULL REFERENCES hotel_review.runs (number),
    batch integer NOT NULL,
    judged text COLLATE "C" NOT NULL CHECK (judged IN ('incorrect', 'not-in-result', 'unclear')),
    places bytea NOT NULL,
    PRIMARY KEY (run, batch, judged)
  );
  INSERT INTO hotel_review.verdicts SELECT run, batch, 'incorrect', places FROM hotel_review.affected;
  DROP TABLE hotel_review.affected;

  ALTER TABLE hotel_review.mapping_syncs ADD COLUMN skipped bigint NOT NULL DEFAULT 0;

  CREATE TABLE hotel_review.skipped_mappings (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    scope text NOT NULL,
    sync_id text COLLATE "C" NOT NULL,
    seen_at bigint NOT NULL,
    reason text NOT NULL,
    record text NOT NULL
  );
  `,
  `
  CREATE TABLE hotel_review.audit_trail (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at bigint NOT NULL,
    who text NOT NULL,
    action text NOT NULL,
    subject text NOT NULL,
    details text NOT NULL
  );
  CREATE INDEX audit_by_time ON hotel_review.audit_trail (at);
  `,
  `
  ALTER TABLE hotel_review.runs ADD COLUMN lines_blanked smallint NOT NULL DEFAULT 0;
  UPDATE hotel_review.runs SET lines_blanked = 1 WHERE names_blanked_at IS NOT NULL;
  `,
  `
  CREATE TABLE hotel_review.erased_guests (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind text COLLATE "C" NOT NULL CHECK (kind IN ('reference', 'name')),
    hash text COLLATE "C" NOT NULL UNIQUE,
    key_id text COLLATE "C" NOT NULL,
    bits integer NOT NULL,
    at bigint NOT NULL
  );
  CREATE TABLE hotel_review.erased_contents (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run bigint NOT NULL REFERENCES hotel_review.runs (number),
    place text COLLATE "C" NOT NULL CHECK (place IN ('ledger', 'archive', 'sftp')),
    name text COLLATE "C" NOT NULL,
    sha256_before text COLLATE "C" NOT NULL,
    sha256_after text COLLATE "C" NOT NULL,
    at bigint NOT NULL
  );
  CREATE INDEX erased_contents_by_run ON hotel_review.erased_contents (run);
  `,
  `
  CREATE TABLE hotel_review.hotel_loads (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    file text NOT NULL,
    started_at bigint NOT NULL,
    rows bigint NOT NULL DEFAULT 0,
    finished_at bigint,
    hotels bigint,
    kept bigint
  );

  CREATE TABLE hotel_review.hotel_contents (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    load bigint NOT NULL,
    service_id bigint NOT NULL,
    loaded_at bigint NOT NULL,
    name text,
    microdegrees_north integer,
    microdegrees_east integer,
    address text,
    city text,
    country text,
    country_code text,
    phones text,
    email text,
    website text
  );
  CREATE INDEX contents_by_hotel ON hotel_review.hotel_contents (load, service_id, number);
  `,
  `
  ALTER TABLE hotel_review.runs ADD COLUMN guest_names text COLLATE "C" NOT NULL DEFAULT 'send';
  `,
  `
  DROP INDEX hotel_review.one_active_run_per_day;
  ALTER TABLE hotel_review.runs DROP CONSTRAINT runs_trigger_check;
  ALTER TABLE hotel_review.runs ADD CONSTRAINT runs_trigger_check
    CHECK (trigger IN ('schedule', 'hook', 'manual', 'replay', 'today', 'watch'));
  CREATE UNIQUE INDEX one_active_run_per_day ON hotel_review.runs (day, (trigger = 'watch'))
    WHERE state IN ('collecting', 'delivering', 'awaiting-result');
  ALTER TABLE hotel_review.runs ADD COLUMN day_accepted bigint;
  `,
  `
  ALTER TABLE hotel_review.runs ADD COLUMN stays_indexed smallint NOT NULL DEFAULT 0;

  CREATE TABLE hotel_review.stay_pages (
    run bigint NOT NULL REFERENCES hotel_review.runs (number),
    form text COLLATE "C" NOT NULL,
    first_hash bigint NOT NULL,
    last_hash bigint NOT NULL,
    page integer NOT NULL,
    first_position bigint NOT NULL,
    last_check_in integer NOT NULL,
    entries bytea NOT NULL,
    PRIMARY KEY (run, form, first_hash, last_hash, page)
  );
  ALTER TABLE hotel_review.stay_pages ALTER COLUMN entries SET STORAGE EXTERNAL;
  `,
  `
  CREATE TABLE hotel_review.cases (
    number bigint PRIMARY KEY,
    identity text COLLATE "C" NOT NULL UNIQUE,
    provider_name text COLLATE "C" NOT NULL,
    provider_hotel_id text COLLATE "C" NOT NULL,
    service_id bigint NOT NULL,
    state text COLLATE "C" NOT NULL CHECK (state IN ('open', 'reported', 'escalated', 'corrected', 'dismissed')),
    state_since bigint NOT NULL,
    origins text NOT NULL,
    move text,
    opened_at bigint NOT NULL,
    evidence_at bigint NOT NULL,
    watched_since bigint,
    corrected_by bigint,
    assignee text,
    note text
  );
  CREATE TABLE hotel_review.case_bookings (
    case_number bigint NOT NULL REFERENCES hotel_review.cases (number),
    place integer NOT NULL,
    reference text COLLATE "C",
    check_in text COLLATE "C",
    check_out text COLLATE "C",
    day text COLLATE "C" NOT NULL,
    added_at bigint NOT NULL,
    is_named integer NOT NULL,
    resolved_as text COLLATE "C" CHECK (resolved_as IN ('rebooked', 'confirmed', 'cancelled')),
    resolved_at bigint,
    resolved_note text,
    resolved_by_itself integer NOT NULL DEFAULT 0,
    PRIMARY KEY (case_number, place)
  );
  CREATE INDEX case_bookings_by_reference ON hotel_review.case_bookings (left(reference, 200)) WHERE reference IS NOT NULL;
  CREATE TABLE hotel_review.followed_runs (
    run bigint PRIMARY KEY REFERENCES hotel_review.runs (number),
    is_complete integer NOT NULL
  );
  `,
  `
  CREATE TABLE hotel_review.kept_columns (
    run bigint NOT NULL REFERENCES hotel_review.runs (number),
    form text COLLATE "C" NOT NULL,
    batch integer NOT NULL,
    kept bytea NOT NULL,
    PRIMARY KEY (run, form, batch)
  );
  `,
  `
  CREATE TABLE hotel_review.watched_moves (
    last_move bigint NOT NULL,
    watched_at bigint
  );
  INSERT INTO hotel_review.watched_moves (last_move) VALUES (0);
  `,
  `
  CREATE TABLE hotel_review.verdict_mails (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    sha256 text COLLATE "C" NOT NULL UNIQUE,
    message_id text COLLATE "C",
    received_at bigint NOT NULL,
    read_at bigint NOT NULL,
    found_in text NOT NULL,
    outcome text NOT NULL CHECK (outcome IN ('named', 'nothing-known', 'unreadable')),
    named integer NOT NULL,
    cases_opened_at bigint
  );
  CREATE INDEX verdict_mails_by_message ON hotel_review.verdict_mails (message_id) WHERE message_id IS NOT NULL;
  CREATE INDEX verdict_mails_without_cases ON hotel_review.verdict_mails (number)
    WHERE named > 0 AND cases_opened_at IS NULL;

  CREATE TABLE hotel_review.mail_bookings (
    run bigint NOT NULL REFERENCES hotel_review.runs (number),
    form text COLLATE "C" NOT NULL CHECK (form IN ('body', 'file')),
    batch integer NOT NULL,
    place integer NOT NULL,
    mail bigint NOT NULL REFERENCES hotel_review.verdict_mails (number),
    PRIMARY KEY (run, form, batch, place, mail)
  );
  CREATE INDEX mail_bookings_by_mail ON hotel_review.mail_bookings (mail);

  CREATE TABLE hotel_review.mail_pairs (
    mail bigint NOT NULL REFERENCES hotel_review.verdict_mails (number),
    provider_name text COLLATE "C" NOT NULL,
    provider_hotel_id text COLLATE "C" NOT NULL,
    service_id bigint NOT NULL,
    PRIMARY KEY (mail, provider_name, provider_hotel_id, service_id)
  );
  `,
  `CREATE INDEX mail_pairs_by_hotel ON hotel_review.mail_pairs (provider_hotel_id, provider_name)`,
  `
  CREATE TABLE hotel_review.endangered_mappings (
    provider_name text COLLATE "C" NOT NULL,
    provider_hotel_id text COLLATE "C" NOT NULL,
    service_id bigint NOT NULL,
    moved_at bigint NOT NULL,
    run bigint REFERENCES hotel_review.runs (number),
    PRIMARY KEY (provider_name, provider_hotel_id, service_id, moved_at)
  );
  CREATE INDEX endangered_mappings_by_run ON hotel_review.endangered_mappings (run);
  `,
  `
  ALTER TABLE hotel_review.steps DROP CONSTRAINT steps_kind_check;
  ALTER TABLE hotel_review.steps ADD CONSTRAINT steps_kind_check
    CHECK (kind IN ('batch', 'write', 'upload', 'trigger', 'await-result', 'archive', 'canary'));
  CREATE TABLE hotel_review.canaries (
    run bigint PRIMARY KEY REFERENCES hotel_review.runs (number),
    reference text COLLATE "C" NOT NULL UNIQUE,
    form text COLLATE "C" NOT NULL CHECK (form IN ('body', 'file')),
    line text NOT NULL,
    within_ms bigint NOT NULL,
    named_at bigint,
    named_by text COLLATE "C" CHECK (named_by IN ('result', 'email')),
    reported_at bigint
  );
  `,
  `
  CREATE TABLE hotel_review.notices (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    round integer NOT NULL,
    reminder integer NOT NULL,
    severity text COLLATE "C" NOT NULL CHECK (severity IN ('info', 'warning', 'critical')),
    day text COLLATE "C",
    run text COLLATE "C",
    facts text NOT NULL,
    raised_at bigint NOT NULL,
    ended_at bigint,
    routed_at bigint,
    UNIQUE (event, subject, round, reminder)
  );
  CREATE INDEX notices_open ON hotel_review.notices (number) WHERE reminder = 0 AND ended_at IS NULL;
  CREATE INDEX notices_not_routed ON hotel_review.notices (number) WHERE routed_at IS NULL;

  CREATE TABLE hotel_review.messages (
    id text COLLATE "C" PRIMARY KEY,
    notice bigint NOT NULL REFERENCES hotel_review.notices (number),
    channel text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL CHECK (state IN ('pending', 'sent', 'given-up')),
    due_at bigint NOT NULL,
    attempts integer NOT NULL,
    lease_until bigint,
    ended_at bigint,
    last_code text COLLATE "C",
    UNIQUE (notice, channel)
  );
  CREATE INDEX messages_pending ON hotel_review.messages (channel, notice) WHERE state = 'pending';

  CREATE TABLE hotel_review.noted_instants (
    name text COLLATE "C" PRIMARY KEY,
    at bigint NOT NULL
  );
  `,
  `ALTER TABLE hotel_review.verdict_mails ADD COLUMN reason text COLLATE "C"`,
  // Days with few bookings counted as good so far, and stay good.
  `
  ALTER TABLE hotel_review.runs ADD COLUMN volume_dropped smallint NOT NULL DEFAULT 0;
  ALTER TABLE hotel_review.runs ADD COLUMN volume_acceptance text;
  UPDATE hotel_review.runs SET volume_acceptance = '{"at":' || started_at || ',"by":"an earlier version"}'
    WHERE volume IS NOT NULL OR accepts_volume;
  ALTER TABLE hotel_review.runs DROP COLUMN accepts_volume;
  `,
  `ALTER TABLE hotel_review.runs ADD COLUMN accepts_repeated smallint NOT NULL DEFAULT 0`,
  // The pages are sorted by the last day of the stay now, no longer by its check-in: each run is indexed again when it is read.
  `
  DELETE FROM hotel_review.stay_pages;
  ALTER TABLE hotel_review.stay_pages RENAME COLUMN last_check_in TO latest_day;
  UPDATE hotel_review.runs SET stays_indexed = 0;
  `,
  `
  ALTER TABLE hotel_review.verdict_mails DROP CONSTRAINT verdict_mails_outcome_check;
  ALTER TABLE hotel_review.verdict_mails ADD CONSTRAINT verdict_mails_outcome_check
    CHECK (outcome IN ('named', 'nothing-known', 'unreadable', 'set-aside', 'unknown-sender'));
  ALTER TABLE hotel_review.verdict_mails ADD COLUMN is_listed integer NOT NULL DEFAULT 0;
  UPDATE hotel_review.verdict_mails SET found_in = 'file' WHERE found_in NOT LIKE 'imap://%';
  `,
];
