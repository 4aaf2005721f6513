/**
 * The migrations, in order; the database's `user_version` counts those that were applied. A released migration is never
 * changed: append a new one.
 *
 * Bookings are stored by batch, in the bytes in which they are sent, with pages of (hash of the reference, position)
 * beside them: three times as fast to load as one row per booking. No index is maintained while a day is loaded.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE runs (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    day TEXT NOT NULL,
    delivery TEXT NOT NULL CHECK (delivery IN ('body', 'file')),
    trigger TEXT NOT NULL CHECK (trigger IN ('schedule', 'hook', 'manual', 'replay')),
    reason TEXT,
    state TEXT NOT NULL CHECK (
      state IN ('collecting', 'delivering', 'awaiting-result', 'succeeded', 'failed', 'cancelled')
    ),
    token INTEGER NOT NULL DEFAULT 1,
    source TEXT,
    batch_size INTEGER,
    started_at INTEGER NOT NULL,
    collect_started_at INTEGER,
    collected_at INTEGER,
    finished_at INTEGER,
    names_blanked_at INTEGER,
    pruned_at INTEGER,
    read INTEGER NOT NULL DEFAULT 0,
    accepted INTEGER NOT NULL DEFAULT 0,
    duplicates INTEGER NOT NULL DEFAULT 0,
    rejected INTEGER NOT NULL DEFAULT 0,
    delivered INTEGER NOT NULL DEFAULT 0,
    refused INTEGER NOT NULL DEFAULT 0,
    repeated INTEGER NOT NULL DEFAULT 0,
    affected INTEGER NOT NULL DEFAULT 0,
    open_steps INTEGER NOT NULL DEFAULT 0,
    failed_steps INTEGER NOT NULL DEFAULT 0,
    failures_in_row INTEGER NOT NULL DEFAULT 0,
    failure_class TEXT,
    failure_code TEXT,
    failure_message TEXT,
    file TEXT
  ) STRICT;
  CREATE UNIQUE INDEX one_active_run_per_day ON runs (day)
    WHERE state IN ('collecting', 'delivering', 'awaiting-result');
  CREATE INDEX runs_by_day ON runs (day, number);

  CREATE TABLE batches (
    run INTEGER NOT NULL REFERENCES runs (number),
    form TEXT NOT NULL CHECK (form IN ('body', 'file')),
    batch INTEGER NOT NULL,
    bookings INTEGER NOT NULL,
    lines BLOB NOT NULL,
    PRIMARY KEY (run, form, batch)
  ) STRICT;

  CREATE TABLE reference_pages (
    run INTEGER NOT NULL REFERENCES runs (number),
    form TEXT NOT NULL,
    first_hash INTEGER NOT NULL,
    last_hash INTEGER NOT NULL,
    page INTEGER NOT NULL,
    entries BLOB NOT NULL,
    PRIMARY KEY (run, form, first_hash, last_hash, page)
  ) STRICT;

  CREATE TABLE rejects (
    run INTEGER NOT NULL REFERENCES runs (number),
    place INTEGER NOT NULL,
    reason TEXT NOT NULL,
    reference TEXT
  ) STRICT;
  CREATE INDEX rejects_by_run ON rejects (run);
  CREATE INDEX rejects_by_reference ON rejects (reference) WHERE reference IS NOT NULL;

  CREATE TABLE warnings (
    run INTEGER NOT NULL REFERENCES runs (number),
    reason TEXT NOT NULL,
    count INTEGER NOT NULL,
    first_place INTEGER,
    PRIMARY KEY (run, reason)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE steps (
    run INTEGER NOT NULL REFERENCES runs (number),
    name TEXT NOT NULL,
    position INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('batch', 'write', 'upload', 'trigger', 'await-result', 'archive')),
    state TEXT NOT NULL CHECK (state IN ('waiting', 'ready', 'running', 'done', 'refused', 'failed', 'halved', 'overdue')),
    after TEXT,
    form TEXT,
    batch INTEGER,
    first INTEGER,
    bookings INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    tries INTEGER NOT NULL DEFAULT 0,
    waits INTEGER NOT NULL DEFAULT 0,
    repeated INTEGER NOT NULL DEFAULT 0,
    outcome_unknown INTEGER NOT NULL DEFAULT 0,
    not_before INTEGER,
    token INTEGER,
    claimed_at INTEGER,
    ended_at INTEGER,
    last_code TEXT,
    PRIMARY KEY (run, name)
  ) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX steps_by_position ON steps (run, position, name);
  CREATE INDEX steps_by_predecessor ON steps (run, after) WHERE after IS NOT NULL;
  CREATE INDEX steps_by_slice ON steps (run, form, batch);

  CREATE TABLE affected (
    run INTEGER NOT NULL REFERENCES runs (number),
    batch INTEGER NOT NULL,
    places BLOB NOT NULL,
    PRIMARY KEY (run, batch)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE attempts (
    run INTEGER NOT NULL REFERENCES runs (number),
    step TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    code TEXT NOT NULL,
    http_status INTEGER,
    status_code INTEGER,
    answer TEXT,
    sha256 TEXT,
    PRIMARY KEY (run, step, attempt)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  ALTER TABLE runs ADD COLUMN tops_up INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE steps ADD COLUMN lease_until INTEGER;

  CREATE TABLE hook_requests (
    id TEXT PRIMARY KEY,
    run TEXT NOT NULL,
    answered_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  ALTER TABLE runs ADD COLUMN suspects INTEGER;
  ALTER TABLE runs ADD COLUMN filled_in INTEGER;

  CREATE TABLE suspects (
    run INTEGER NOT NULL REFERENCES runs (number),
    form TEXT NOT NULL,
    batch INTEGER NOT NULL,
    place INTEGER NOT NULL,
    reason TEXT NOT NULL CHECK (reason IN ('other-master', 'moved', 'filled-in')),
    service_id INTEGER,
    moved_at INTEGER,
    PRIMARY KEY (run, form, batch, place)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE mappings (
    number INTEGER PRIMARY KEY,
    provider_name TEXT NOT NULL,
    provider_hotel_id TEXT NOT NULL,
    service_id INTEGER,
    location_code TEXT,
    channel_ids TEXT NOT NULL,
    first_seen_at INTEGER NOT NULL,
    moved_at INTEGER,
    UNIQUE (provider_name, provider_hotel_id)
  ) STRICT;

  CREATE TABLE mapping_moves (
    number INTEGER PRIMARY KEY,
    mapping INTEGER NOT NULL REFERENCES mappings (number),
    from_service_id INTEGER,
    to_service_id INTEGER,
    seen_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX moves_by_mapping ON mapping_moves (mapping);

  CREATE TABLE master_hotels (
    number INTEGER PRIMARY KEY,
    service_id INTEGER NOT NULL UNIQUE,
    provider_name TEXT NOT NULL,
    provider_hotel_id TEXT NOT NULL,
    seen_at INTEGER NOT NULL,
    told_at INTEGER
  ) STRICT;
  CREATE INDEX untold_hotels ON master_hotels (number) WHERE told_at IS NULL;

  CREATE TABLE mapping_syncs (
    number INTEGER PRIMARY KEY,
    sync_id TEXT NOT NULL UNIQUE,
    scope TEXT NOT NULL,
    since INTEGER NOT NULL,
    keeps_since INTEGER,
    begun_at INTEGER NOT NULL,
    resume_key TEXT,
    last_page TEXT,
    service_began_at INTEGER,
    ended_at INTEGER,
    given_up_at INTEGER,
    pages INTEGER NOT NULL DEFAULT 0,
    read INTEGER NOT NULL DEFAULT 0,
    added INTEGER NOT NULL DEFAULT 0,
    moved INTEGER NOT NULL DEFAULT 0,
    updated INTEGER NOT NULL DEFAULT 0,
    deleted INTEGER NOT NULL DEFAULT 0,
    unchanged INTEGER NOT NULL DEFAULT 0,
    new_hotels INTEGER NOT NULL DEFAULT 0,
    restarts INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX syncs_by_scope ON mapping_syncs (scope, number);
  CREATE UNIQUE INDEX one_open_sync_per_scope ON mapping_syncs (scope)
    WHERE ended_at IS NULL AND given_up_at IS NULL;

  CREATE TABLE export_requests (
    number INTEGER PRIMARY KEY,
    requested_at INTEGER NOT NULL,
    service_time INTEGER,
    providers TEXT NOT NULL
  ) STRICT;

  CREATE TABLE fetched_exports (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    fetched_at INTEGER NOT NULL,
    providers TEXT NOT NULL,
    files TEXT NOT NULL
  ) STRICT;
  `,
  `
  ALTER TABLE runs ADD COLUMN filtered INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE runs ADD COLUMN posted INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE runs ADD COLUMN providers TEXT;
  ALTER TABLE runs ADD COLUMN expected INTEGER;
  ALTER TABLE runs ADD COLUMN accepts_volume INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE runs ADD COLUMN cancel_reason TEXT;
  ALTER TABLE runs ADD COLUMN volume TEXT;
  UPDATE runs SET posted = (SELECT coalesce(sum(bookings), 0) FROM batches WHERE run = number AND form = 'body')
    WHERE delivery = 'file';

  ALTER TABLE rejects ADD COLUMN field TEXT;
  ALTER TABLE rejects ADD COLUMN value TEXT;

  CREATE TABLE verdicts (
    run INTEGER NOT NULL REFERENCES runs (number),
    batch INTEGER NOT NULL,
    judged TEXT NOT NULL CHECK (judged IN ('incorrect', 'not-in-result', 'unclear')),
    places BLOB NOT NULL,
    PRIMARY KEY (run, batch, judged)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO verdicts SELECT run, batch, 'incorrect', places FROM affected;
  DROP TABLE affected;

  ALTER TABLE mapping_syncs ADD COLUMN skipped INTEGER NOT NULL DEFAULT 0;

  CREATE TABLE skipped_mappings (
    number INTEGER PRIMARY KEY,
    scope TEXT NOT NULL,
    sync_id TEXT NOT NULL,
    seen_at INTEGER NOT NULL,
    reason TEXT NOT NULL,
    record TEXT NOT NULL
  ) STRICT;
  `,
  `
  CREATE TABLE audit_trail (
    number INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    who TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    details TEXT NOT NULL
  ) STRICT;
  CREATE INDEX audit_by_time ON audit_trail (at);
  `,
  `
  ALTER TABLE runs ADD COLUMN lines_blanked INTEGER NOT NULL DEFAULT 0;
  UPDATE runs SET lines_blanked = 1 WHERE names_blanked_at IS NOT NULL;
  `,
  `
  CREATE TABLE erased_guests (
    number INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('reference', 'name')),
    hash TEXT NOT NULL UNIQUE,
    key_id TEXT NOT NULL,
    bits INTEGER NOT NULL,
    at INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE erased_contents (
    number INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs (number),
    place TEXT NOT NULL CHECK (place IN ('ledger', 'archive', 'sftp')),
    name TEXT NOT NULL,
    sha256_before TEXT NOT NULL,
    sha256_after TEXT NOT NULL,
    at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX erased_contents_by_run ON erased_contents (run);
  `,
  `
  CREATE TABLE hotel_loads (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    file TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    rows INTEGER NOT NULL DEFAULT 0,
    finished_at INTEGER,
    hotels INTEGER,
    kept INTEGER
  ) STRICT;

  CREATE TABLE hotel_contents (
    number INTEGER PRIMARY KEY,
    load INTEGER NOT NULL,
    service_id INTEGER NOT NULL,
    loaded_at INTEGER NOT NULL,
    name TEXT,
    microdegrees_north INTEGER,
    microdegrees_east INTEGER,
    address TEXT,
    city TEXT,
    country TEXT,
    country_code TEXT,
    phones TEXT,
    email TEXT,
    website TEXT
  ) STRICT;
  CREATE INDEX contents_by_hotel ON hotel_contents (load, service_id);
  `,
  `
  ALTER TABLE runs ADD COLUMN guest_names TEXT NOT NULL DEFAULT 'send';
  `,
  `
  DROP INDEX one_active_run_per_day;
  ALTER TABLE runs ADD COLUMN started_by TEXT NOT NULL DEFAULT 'manual'
    CHECK (started_by IN ('schedule', 'hook', 'manual', 'replay', 'today', 'watch'));
  UPDATE runs SET started_by = trigger;
  ALTER TABLE runs DROP COLUMN trigger;
  ALTER TABLE runs RENAME COLUMN started_by TO trigger;
  CREATE UNIQUE INDEX one_active_run_per_day ON runs (day, trigger = 'watch')
    WHERE state IN ('collecting', 'delivering', 'awaiting-result');
  ALTER TABLE runs ADD COLUMN day_accepted INTEGER;
  `,
  `
  ALTER TABLE runs ADD COLUMN stays_indexed INTEGER NOT NULL DEFAULT 0;

  CREATE TABLE stay_pages (
    run INTEGER NOT NULL REFERENCES runs (number),
    form TEXT NOT NULL,
    first_hash INTEGER NOT NULL,
    last_hash INTEGER NOT NULL,
    page INTEGER NOT NULL,
    first_position INTEGER NOT NULL,
    last_check_in INTEGER NOT NULL,
    entries BLOB NOT NULL,
    PRIMARY KEY (run, form, first_hash, last_hash, page)
  ) STRICT;
  `,
  `
  CREATE TABLE cases (
    number INTEGER PRIMARY KEY,
    identity TEXT NOT NULL UNIQUE,
    provider_name TEXT NOT NULL,
    provider_hotel_id TEXT NOT NULL,
    service_id INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'reported', 'escalated', 'corrected', 'dismissed')),
    state_since INTEGER NOT NULL,
    origins TEXT NOT NULL,
    move TEXT,
    opened_at INTEGER NOT NULL,
    evidence_at INTEGER NOT NULL,
    watched_since INTEGER,
    corrected_by INTEGER,
    assignee TEXT,
    note TEXT
  ) STRICT;
  CREATE TABLE case_bookings (
    case_number INTEGER NOT NULL REFERENCES cases (number),
    place INTEGER NOT NULL,
    reference TEXT,
    check_in TEXT,
    check_out TEXT,
    day TEXT NOT NULL,
    added_at INTEGER NOT NULL,
    is_named INTEGER NOT NULL,
    resolved_as TEXT CHECK (resolved_as IN ('rebooked', 'confirmed', 'cancelled')),
    resolved_at INTEGER,
    resolved_note TEXT,
    resolved_by_itself INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (case_number, place)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX case_bookings_by_reference ON case_bookings (reference) WHERE reference IS NOT NULL;
  CREATE TABLE followed_runs (
    run INTEGER PRIMARY KEY REFERENCES runs (number),
    is_complete INTEGER NOT NULL
  ) STRICT;
  `,
  `
  CREATE TABLE kept_columns (
    run INTEGER NOT NULL REFERENCES runs (number),
    form TEXT NOT NULL,
    batch INTEGER NOT NULL,
    kept BLOB NOT NULL,
    PRIMARY KEY (run, form, batch)
  ) STRICT;
  `,
  `
  CREATE TABLE watched_moves (
    last_move INTEGER NOT NULL,
    watched_at INTEGER
  ) STRICT;
  INSERT INTO watched_moves (last_move) VALUES (0);
  `,
  `
  CREATE TABLE verdict_mails (
    number INTEGER PRIMARY KEY,
    sha256 TEXT NOT NULL UNIQUE,
    message_id TEXT,
    received_at INTEGER NOT NULL,
    read_at INTEGER NOT NULL,
    found_in TEXT NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('named', 'nothing-known', 'unreadable')),
    named INTEGER NOT NULL,
    cases_opened_at INTEGER
  ) STRICT;
  CREATE INDEX verdict_mails_by_message ON verdict_mails (message_id) WHERE message_id IS NOT NULL;
  CREATE INDEX verdict_mails_without_cases ON verdict_mails (number) WHERE named > 0 AND cases_opened_at IS NULL;

  CREATE TABLE mail_bookings (
    run INTEGER NOT NULL REFERENCES runs (number),
    form TEXT NOT NULL CHECK (form IN ('body', 'file')),
    batch INTEGER NOT NULL,
    place INTEGER NOT NULL,
    mail INTEGER NOT NULL REFERENCES verdict_mails (number),
    PRIMARY KEY (run, form, batch, place, mail)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX mail_bookings_by_mail ON mail_bookings (mail);

  CREATE TABLE mail_pairs (
    mail INTEGER NOT NULL REFERENCES verdict_mails (number),
    provider_name TEXT NOT NULL,
    provider_hotel_id TEXT NOT NULL,
    service_id INTEGER NOT NULL,
    PRIMARY KEY (mail, provider_name, provider_hotel_id, service_id)
  ) STRICT, WITHOUT ROWID;
  `,
  `CREATE INDEX mail_pairs_by_hotel ON mail_pairs (provider_hotel_id, provider_name)`,
  `
  CREATE TABLE endangered_mappings (
    provider_name TEXT NOT NULL,
    provider_hotel_id TEXT NOT NULL,
    service_id INTEGER NOT NULL,
    moved_at INTEGER NOT NULL,
    run INTEGER REFERENCES runs (number),
    PRIMARY KEY (provider_name, provider_hotel_id, service_id, moved_at)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX endangered_mappings_by_run ON endangered_mappings (run);
  `,
  `
  ALTER TABLE steps ADD COLUMN step_kind TEXT NOT NULL DEFAULT 'batch'
    CHECK (step_kind IN ('batch', 'write', 'upload', 'trigger', 'await-result', 'archive', 'canary'));
  UPDATE steps SET step_kind = kind;
  ALTER TABLE steps DROP COLUMN kind;
  ALTER TABLE steps RENAME COLUMN step_kind TO kind;
  CREATE TABLE canaries (
    run INTEGER PRIMARY KEY REFERENCES runs (number),
    reference TEXT NOT NULL UNIQUE,
    form TEXT NOT NULL CHECK (form IN ('body', 'file')),
    line TEXT NOT NULL,
    within_ms INTEGER NOT NULL,
    named_at INTEGER,
    named_by TEXT CHECK (named_by IN ('result', 'email')),
    reported_at INTEGER
  ) STRICT;
  `,
  `
  CREATE TABLE notices (
    number INTEGER PRIMARY KEY,
    event TEXT NOT NULL,
    subject TEXT NOT NULL,
    round INTEGER NOT NULL,
    reminder INTEGER NOT NULL,
    severity TEXT NOT NULL CHECK (severity IN ('info', 'warning', 'critical')),
    day TEXT,
    run TEXT,
    facts TEXT NOT NULL,
    raised_at INTEGER NOT NULL,
    ended_at INTEGER,
    routed_at INTEGER,
    UNIQUE (event, subject, round, reminder)
  ) STRICT;
  CREATE INDEX notices_open ON notices (number) WHERE reminder = 0 AND ended_at IS NULL;
  CREATE INDEX notices_not_routed ON notices (number) WHERE routed_at IS NULL;

  CREATE TABLE messages (
    id TEXT PRIMARY KEY,
    notice INTEGER NOT NULL REFERENCES notices (number),
    channel TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'sent', 'given-up')),
    due_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    lease_until INTEGER,
    ended_at INTEGER,
    last_code TEXT,
    UNIQUE (notice, channel)
  ) STRICT;
  CREATE INDEX messages_pending ON messages (channel, notice) WHERE state = 'pending';

  CREATE TABLE noted_instants (
    name TEXT PRIMARY KEY,
    at INTEGER NOT NULL
  ) STRICT;
  `,
  `ALTER TABLE verdict_mails ADD COLUMN reason TEXT`,
  // Days with few bookings counted as good so far, and stay good.
  `
  ALTER TABLE runs ADD COLUMN volume_dropped INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE runs ADD COLUMN volume_acceptance TEXT;
  UPDATE runs SET volume_acceptance = '{"at":' || started_at || ',"by":"an earlier version"}'
    WHERE volume IS NOT NULL OR accepts_volume = 1;
  ALTER TABLE runs DROP COLUMN accepts_volume;
  `,
  `ALTER TABLE runs ADD COLUMN accepts_repeated INTEGER NOT NULL DEFAULT 0`,
  // The pages are sorted by the last day of the stay now, no longer by its check-in: each run is indexed again when it is read.
  `
  DELETE FROM stay_pages;
  ALTER TABLE stay_pages RENAME COLUMN last_check_in TO latest_day;
  UPDATE runs SET stays_indexed = 0;
  `,
  `
  ALTER TABLE verdict_mails ADD COLUMN mail_outcome TEXT NOT NULL DEFAULT 'unreadable'
    CHECK (mail_outcome IN ('named', 'nothing-known', 'unreadable', 'set-aside', 'unknown-sender'));
  UPDATE verdict_mails SET mail_outcome = outcome;
  ALTER TABLE verdict_mails DROP COLUMN outcome;
  ALTER TABLE verdict_mails RENAME COLUMN mail_outcome TO outcome;
  ALTER TABLE verdict_mails ADD COLUMN is_listed INTEGER NOT NULL DEFAULT 0;
  UPDATE verdict_mails SET found_in = 'file' WHERE found_in NOT LIKE 'imap://%';
  `,
];
