/** The part of the schema that outlives runs: mappings, hotels, exports, e-mails, cases, notices and the audit trail. */
export const lastingTables: readonly string[] = [
  // The copy of the service's mappings. Their numbers are given by us, so that many are inserted at once.
  `CREATE TABLE mappings (
    number bigint PRIMARY KEY,
    provider_name text NOT NULL,
    provider_hotel_id text NOT NULL,
    service_id bigint,
    location_code text,
    channel_ids text NOT NULL,
    first_seen_at bigint NOT NULL,
    moved_at bigint
  ) STRICT`,

  `CREATE TABLE mapping_moves (
    number rownumber,
    mapping bigint NOT NULL REFERENCES mappings (number),
    from_service_id bigint,
    to_service_id bigint,
    seen_at bigint NOT NULL
  ) STRICT`,
  'CREATE INDEX moves_by_mapping ON mapping_moves (mapping)',

  // The master hotels that a sync saw for the first time, and when somebody was told.
  `CREATE TABLE master_hotels (
    number bigint PRIMARY KEY,
    service_id bigint NOT NULL UNIQUE,
    provider_name text NOT NULL,
    provider_hotel_id text NOT NULL,
    seen_at bigint NOT NULL,
    told_at bigint
  ) STRICT`,
  'CREATE INDEX untold_hotels ON master_hotels (number) WHERE told_at IS NULL',

  `CREATE TABLE mapping_syncs (
    number rownumber,
    sync_id text NOT NULL UNIQUE,
    scope text NOT NULL,
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
    skipped bigint NOT NULL DEFAULT 0,
    new_hotels bigint NOT NULL DEFAULT 0,
    restarts bigint NOT NULL DEFAULT 0
  ) STRICT`,
  'CREATE INDEX syncs_by_scope ON mapping_syncs (scope, number)',
  `CREATE UNIQUE INDEX one_open_sync_per_scope ON mapping_syncs (scope)
    WHERE ended_at IS NULL AND given_up_at IS NULL`,

  // The latest records of the service that could not be read.
  `CREATE TABLE skipped_mappings (
    number rownumber,
    scope text NOT NULL,
    sync_id text NOT NULL,
    seen_at bigint NOT NULL,
    reason text NOT NULL,
    record text NOT NULL
  ) STRICT`,

  // The content of master hotels. A load becomes visible when it is finished.
  `CREATE TABLE hotel_loads (
    number rownumber,
    id text NOT NULL UNIQUE,
    file text NOT NULL,
    at bigint NOT NULL,
    rows bigint NOT NULL DEFAULT 0,
    finished_at bigint,
    hotels bigint,
    kept bigint
  ) STRICT`,
  `CREATE TABLE hotel_contents (
    number rownumber,
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
  ) STRICT`,

  `CREATE TABLE export_requests (
    number rownumber,
    requested_at bigint NOT NULL,
    service_time bigint,
    providers text NOT NULL
  ) STRICT`,
  `CREATE TABLE fetched_exports (
    number rownumber,
    id text NOT NULL UNIQUE,
    fetched_at bigint NOT NULL,
    providers text NOT NULL,
    files text NOT NULL
  ) STRICT`,

  // The newest move that was compared with the bookings ahead: a single row.
  `CREATE TABLE watched_moves (
    last_move bigint NOT NULL
  ) STRICT`,
  'INSERT INTO watched_moves (last_move) VALUES (0)',

  // The verdict e-mails, and what each has named.
  `CREATE TABLE verdict_mails (
    number rownumber,
    sha256 text NOT NULL UNIQUE,
    message_id text,
    received_at bigint NOT NULL,
    read_at bigint NOT NULL,
    found_in text NOT NULL,
    outcome text NOT NULL
      CHECK (outcome IN ('named', 'nothing-known', 'unreadable', 'set-aside', 'unknown-sender')),
    reason text,
    is_listed integer NOT NULL DEFAULT 0,
    named integer NOT NULL,
    cases_opened_at bigint
  ) STRICT`,
  'CREATE INDEX verdict_mails_by_message ON verdict_mails (message_id) WHERE message_id IS NOT NULL',
  `CREATE INDEX verdict_mails_without_cases ON verdict_mails (number)
    WHERE named > 0 AND cases_opened_at IS NULL`,
  `CREATE TABLE mail_bookings (
    run bigint NOT NULL REFERENCES runs (number),
    form text NOT NULL CHECK (form IN ('body', 'file')),
    batch integer NOT NULL,
    place integer NOT NULL,
    mail bigint NOT NULL REFERENCES verdict_mails (number),
    PRIMARY KEY (run, form, batch, place, mail)
  ) STRICT, WITHOUT ROWID`,
  'CREATE INDEX mail_bookings_by_mail ON mail_bookings (mail)',
  `CREATE TABLE mail_pairs (
    mail bigint NOT NULL REFERENCES verdict_mails (number),
    provider_name text NOT NULL,
    provider_hotel_id text NOT NULL,
    service_id bigint NOT NULL,
    PRIMARY KEY (mail, provider_name, provider_hotel_id, service_id)
  ) STRICT, WITHOUT ROWID`,
  'CREATE INDEX mail_pairs_by_hotel ON mail_pairs (provider_hotel_id, provider_name)',

  `CREATE TABLE cases (
    id bigint PRIMARY KEY,
    identity text NOT NULL UNIQUE,
    provider_name text NOT NULL,
    provider_hotel_id text NOT NULL,
    service_id bigint NOT NULL,
    state text NOT NULL CHECK (state IN ('open', 'reported', 'escalated', 'corrected', 'dismissed')),
    state_since bigint NOT NULL,
    origins text NOT NULL,
    move text,
    opened_at bigint NOT NULL,
    evidence_at bigint NOT NULL,
    watched_since bigint,
    corrected_by bigint,
    assignee text,
    note text
  ) STRICT`,
  `CREATE TABLE case_bookings (
    case_number bigint NOT NULL REFERENCES cases (id),
    place integer NOT NULL,
    reference text,
    check_in text,
    check_out text,
    day text NOT NULL,
    added_at bigint NOT NULL,
    is_named integer NOT NULL,
    resolved_as text CHECK (resolved_as IN ('rebooked', 'confirmed', 'cancelled')),
    resolved_at bigint,
    resolved_note text,
    resolved_by_itself integer NOT NULL DEFAULT 0,
    PRIMARY KEY (case_number, place)
  ) STRICT, WITHOUT ROWID`,

  // A problem has one row for each round and reminder of it; each channel gets a message about a row.
  `CREATE TABLE notices (
    number rownumber,
    event text NOT NULL,
    subject text NOT NULL,
    round integer NOT NULL,
    reminder integer NOT NULL,
    severity text NOT NULL CHECK (severity IN ('info', 'warning', 'critical')),
    day text,
    run text,
    facts text NOT NULL,
    raised_at bigint NOT NULL,
    ended_at bigint,
    routed_at bigint,
    UNIQUE (event, subject, round, reminder)
  ) STRICT`,
  'CREATE INDEX notices_open ON notices (number) WHERE reminder = 0 AND ended_at IS NULL',
  'CREATE INDEX notices_not_routed ON notices (number) WHERE routed_at IS NULL',
  `CREATE TABLE messages (
    id text PRIMARY KEY,
    notice bigint NOT NULL REFERENCES notices (number),
    channel text NOT NULL,
    state text NOT NULL CHECK (state IN ('pending', 'sent', 'given-up')),
    due_at bigint NOT NULL,
    attempts integer NOT NULL,
    lease_until bigint,
    ended_at bigint,
    last_code text,
    UNIQUE (notice, channel)
  ) STRICT`,
  `CREATE INDEX messages_pending ON messages (channel, notice) WHERE state = 'pending'`,
  `CREATE TABLE noted_instants (
    name text PRIMARY KEY,
    at bigint NOT NULL
  ) STRICT`,

  // Guests who were erased, by a keyed hash, and the files that were changed for them.
  `CREATE TABLE erased_guests (
    number rownumber,
    hash text NOT NULL UNIQUE,
    key_id text NOT NULL,
    bits integer NOT NULL,
    at bigint NOT NULL
  ) STRICT`,
  `CREATE TABLE erased_contents (
    number rownumber,
    run bigint NOT NULL REFERENCES runs (number),
    place text NOT NULL CHECK (place IN ('ledger', 'archive', 'sftp')),
    name text NOT NULL,
    sha256_before text NOT NULL,
    sha256_after text NOT NULL,
    at bigint NOT NULL
  ) STRICT`,
  'CREATE INDEX erased_contents_by_run ON erased_contents (run)',

  // Who did what.
  `CREATE TABLE audit_trail (
    number rownumber,
    at bigint NOT NULL,
    who text NOT NULL,
    action text NOT NULL,
    subject text NOT NULL,
    details text NOT NULL
  ) STRICT`,
  'CREATE INDEX audit_by_time ON audit_trail (at)',
];
