interface CommonSetting {
  readonly path: string;
  /** One line of YAML. A test checks that the schema accepts it. */
  readonly example: string;
  readonly meaning: string;
}

/** What nearly every installation sets, in the order in which people think of it. */
export const commonSettings: readonly CommonSetting[] = [
  {
    path: 'timezone',
    example: 'timezone: Europe/Madrid',
    meaning: "The account's time zone: it decides which day a booking belongs to.",
  },
  {
    path: 'service.baseUrl',
    example: 'service: { baseUrl: "https://service.example.com/api/3.0" }',
    meaning: 'The address of the mapping service, with its version.',
  },
  {
    path: 'service.apiKey',
    example: 'service: { apiKey: "$' + '{HOTEL_REVIEW_API_KEY}" }',
    meaning: "The account's key, here from a variable of the environment or of `.env`.",
  },
  {
    path: 'service.accountId',
    example: 'service: { accountId: "4711" }',
    meaning: 'The account, in quotes if it is a number.',
  },
  {
    path: 'source.kind',
    example: 'source: { kind: csv }',
    meaning: 'Where the bookings are: `csv`, `ndjson`, `sql`, `http` or a `module` of yours.',
  },
  {
    path: 'source.path',
    example: 'source: { path: "exports/bookings-{day}.csv" }',
    meaning: "The day's file, here or at `s3://…` or `sftp://…`.",
  },
  {
    path: 'source.columns',
    example: 'source: { columns: { ServiceId: hotel_id, BookingClientName: guest } }',
    meaning: 'Columns that are not named like the fields of the service.',
  },
  {
    path: 'source.dateFormat',
    example: 'source: { dateFormat: dd/MM/yyyy }',
    meaning: 'How dates are written, if not as YYYY-MM-DD.',
  },
  {
    path: 'source.encoding',
    example: 'source: { encoding: windows-1252 }',
    meaning: 'The encoding of the file, if it is not UTF-8.',
  },
  {
    path: 'source.delimiter',
    example: 'source: { delimiter: ";" }',
    meaning: 'What separates the cells, if not a comma.',
  },
  {
    path: 'source.where',
    example: 'source: { where: { Status: [CONF, OK] } }',
    meaning: 'Which records are bookings to review, by their own columns.',
  },
  {
    path: 'delivery',
    example: 'delivery: file',
    meaning: 'By file there is a result that names the affected bookings; by body, verdicts come by e-mail.',
  },
  {
    path: 'file.sftp',
    example:
      'file: { sftp: { host: sftp.example.com, username: acme, privateKeyFile: ./id_ed25519, hostKey: "SHA256:WGWBIpXKXMn1lCoTNOYzTDOnWBvs28PsUCGbNWHSBzU" } }',
    meaning: 'The SFTP server for delivery by file; `doctor` shows its host key.',
  },
  {
    path: 'schedule.cron',
    example: 'schedule: { cron: "30 2 * * *" }',
    meaning: 'When `serve` reviews the day before.',
  },
  {
    path: 'deadline',
    example: 'deadline: "06:00"',
    meaning: 'By when the day before must be reviewed; later it is late, and people are told.',
  },
  {
    path: 'notify',
    example:
      'notify: [{ kind: email, smtp: "smtps://night:secret@smtp.example.com", from: review@example.com, to: [ops@example.com] }]',
    meaning: 'Who is told what happened, or did not: by e-mail, Slack, Teams, PagerDuty or a webhook.',
  },
  {
    path: 'volume.minimum',
    example: 'volume: { minimum: 200 }',
    meaning: 'Fewer bookings than this are too few, from the first night on.',
  },
  {
    path: 'verdicts',
    example:
      'verdicts: { imap: { host: imap.example.com, user: reviews, password: secret }, from: ["@service.example"] }',
    meaning: "Where the service's e-mails about incorrect mappings arrive, and who sends them.",
  },
  {
    path: 'mappings.cron',
    example: 'mappings: { cron: "0 1 * * *" }',
    meaning: 'When `serve` updates the local copy of the mappings.',
  },
  {
    path: 'ledger',
    example: 'ledger: "postgres://review:secret@db.example.com/review?sslmode=verify-full"',
    meaning: 'PostgreSQL instead of a SQLite file, to work on several machines.',
  },
  {
    path: 'queue',
    example: 'queue: "rediss://:secret@redis.example.com:6379"',
    meaning: 'Redis, so that `work` on other machines takes steps, too.',
  },
  {
    path: 'archive',
    example: 'archive: s3://reviews/evidence',
    meaning: 'Where sent files and their results are kept: a folder or a bucket.',
  },
  {
    path: 'keys',
    example: 'keys: ./keys',
    meaning: "Encrypts what holds guests' names, with keys in this folder.",
  },
  {
    path: 'guestNameDays',
    example: 'guestNameDays: 14',
    meaning: "After how many days guests' names are removed.",
  },
  {
    path: 'server.users',
    example: 'server: { users: ./users.json }',
    meaning: 'Who may sign in to the desk; `user add` writes this file.',
  },
];
