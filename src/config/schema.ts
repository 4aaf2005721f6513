import * as z from 'zod';
import { isAddressOrNetwork } from '../base/addresses.js';
import { isTimeZone } from '../base/geography.js';
import { isGuessable } from '../base/guessable.js';
import {
  confidentiality,
  expected,
  group,
  headerText,
  hostName,
  isAccepted,
  isGroup,
  numberUpTo,
  oneOf,
  share,
  text,
  textLike,
  textThat,
  timeOfDay,
  timeOfDayOrNone,
  webAddress,
  wholeNumber,
} from '../base/setting-values.js';
import { defaultMasterIdColumn, type FieldKind, masterIdField, textFields } from '../booking/booking.js';
import { isCalendarDay } from '../booking/business-day.js';
import { readField } from '../booking/field-text.js';
import { guestNameChoices } from '../booking/sending.js';
import { notify } from '../notify/channels/channel-settings.js';
import { heartbeatKinds } from '../notify/channels/heartbeat.js';
import { createCronTimes } from '../schedule/cron-times.js';
import { checkBaseUrl } from '../service/client.js';
import { sourceSchema } from '../sources/registry.js';
import { readKeys, shortestKey } from '../transports/http/webhook-signature.js';
import { file } from './file-delivery-settings.js';
import { ledger, queue, readArchiveLocation } from './locations.js';

const hourInSeconds = 3_600;
const dayInSeconds = 86_400;

/** The master id's name must differ from those of the other fields. (Spec 2.5 and 2.6.) */
const otherFields = new RegExp(`^(?!(?:${textFields.map(({ name }) => name).join('|')})$)`);
const fieldName = () =>
  text('a name without control characters')
    .regex(/^\P{Cc}*$/u, expected('a name without control characters'))
    .regex(otherFields, expected('a name that no other field has'));

const service = group(
  {
    baseUrl: z
      .string(expected('an address such as https://service.example.com/api/3.0'))
      .refine((url) => checkBaseUrl(url) === undefined, { error: ({ input }) => checkBaseUrl(String(input)) })
      .describe('The address of the mapping service, including its version.')
      .register(confidentiality, { level: 'private' }),
    apiKey: headerText()
      .describe("The account's API key, sent as the header `apikey`.")
      .register(confidentiality, { level: 'secret' }),
    accountId: headerText()
      .describe("The account's identifier, sent as the header `accountId`. A number needs quotes.")
      .register(confidentiality, { level: 'private' }),
    timeoutSeconds: numberUpTo(hourInSeconds).default(30).describe('How long a whole request may take.'),
    masterIdName: fieldName()
      .default(masterIdField.name)
      .describe('The name of the master hotel id in JSON, in this deployment of the service.'),
    masterIdColumn: fieldName()
      .default(defaultMasterIdColumn)
      .describe("The master hotel id's column in the review file."),
    statusCodes: z
      .record(
        textLike(/^(?:0|[1-9]\d{0,8})$/, 'a StatusCode such as 2030'),
        oneOf('accepted', 'retryable', 'fatal', 'refused'),
        expected('a group of StatusCodes, such as 2030: retryable'),
      )
      .default({})
      .describe('The meaning of each `StatusCode` in an HTTP 200, where it differs from the defaults.'),
  },
  'a group with baseUrl, apiKey and accountId',
);

const body = group({
  batchSize: wholeNumber(1, 10_000).default(500).describe('Bookings per request.'),
  concurrency: wholeNumber(1, 256).default(8).describe('Concurrent requests per process.'),
  requestsPerSecond: numberUpTo(100_000)
    .exactOptional()
    .describe(
      'The maximum number of requests per second: across all processes with Redis, otherwise per process. Unlimited by default.',
    ),
  timeoutSeconds: numberUpTo(hourInSeconds)
    .exactOptional()
    .describe('How long a request with a batch may take; by default `service.timeoutSeconds`.'),
});

const retry = group({
  tries: wholeNumber(1, 100).default(6).describe('How many times a step is tried.'),
  baseSeconds: numberUpTo(hourInSeconds)
    .default(1)
    .describe('The longest wait before the second try. It doubles with each further try.'),
  capSeconds: numberUpTo(dayInSeconds).default(60).describe('The longest wait between two tries.'),
});

const cronText = (example: string) => {
  const fields = `five cron fields such as "${example}"`;
  return textLike(/^\s*(?:[\w*/,?#-]+\s+){4}[\w*/,?#-]+\s*$/, fields).refine(
    (pattern) => isAccepted(() => createCronTimes(pattern, 'UTC')),
    expected(fields),
  );
};

const schedule = group({
  cron: cronText('30 2 * * *')
    .default('30 2 * * *')
    .describe('When `serve` starts the run of the day before, in the configured time zone.'),
  today: cronText('*/20 7-23 * * *')
    .exactOptional()
    .describe(
      'When `serve` also sends the new bookings of the current day, always by body: such as `"*/20 7-23 * * *"`. Without it, no day is reviewed before it is over.',
    ),
  catchUpDays: wholeNumber(0, 366).default(3).describe('How many missed days `serve` catches up on.'),
  resumeMinutes: wholeNumber(1, 1_440)
    .default(30)
    .describe(
      'How often `serve` resumes failed runs that may succeed without a person, and checks for late exports.',
    ),
  giveUpAfter: timeOfDay('12:00')
    .default('12:00')
    .describe(
      'Until when `serve` retries a day whose source is missing or not marked as done, in the configured time zone.',
    ),
});

const strongSecret = `at least ${shortestKey} random bytes, such as the output of: echo "whsec_$(openssl rand -base64 32)" (after whsec_, base64)`;
const strongToken = `at least ${shortestKey} random bytes, such as the output of: openssl rand -hex 32`;

const hook = group({
  secret: textThat((secret) => isAccepted(() => readKeys(secret)), strongSecret)
    .describe(
      'The secret with which callers sign, or which they send as a bearer token, of at least 24 random bytes. Without it, there is no hook.',
    )
    .register(confidentiality, { level: 'secret' })
    .exactOptional(),
});

const signIn = group({
  header: textLike(/^[\w-]+$/, 'the name of a header such as x-forwarded-user').describe(
    'The header with the name of the user, trusted only from `server.proxies`. The proxy must not pass on this header from outside.',
  ),
});

const server = group({
  host: text('a host name or an address')
    .default('127.0.0.1')
    .describe('The address on which `serve` listens; `0.0.0.0` for all addresses.'),
  port: wholeNumber(0, 65_535)
    .default(8080)
    .describe('The port of the pages, the hook, health and metrics; 0 picks a free one.'),
  hosts: z
    .array(hostName(), expected('a list of host names'))
    .default([])
    .describe(
      'The host names under which others reach `serve` or `work`, for example through a proxy. Loopback names, its own address and the host of `publicUrl` are always allowed; requests for any other are refused, except for `/healthz` and `/readyz`.',
    ),
  publicUrl: webAddress('https://review.example.com')
    .refine(
      (url) => !URL.canParse(url) || /^[^/]*\/\/[^/?]*\/?$/.test(url),
      'must not hold a path or a query: the pages are at the root of their host',
    )
    .describe(
      'The address at which people reach the pages of `serve`, without a path. Notifications link to it. If it is https, people sign in there only, and the proxy must pass on its `Host`.',
    )
    .register(confidentiality, { level: 'private' })
    .exactOptional(),
  proxies: z
    .array(
      textThat(isAddressOrNetwork, 'an address such as 127.0.0.1, or a network such as 10.0.3.0/24'),
      expected('a list of addresses and networks'),
    )
    .default([])
    .describe(
      'The addresses and networks of the proxies in front of `serve`. The last entry of `X-Forwarded-For` that they pass on says who the caller is: for signing in, for the hook and in logs. From elsewhere the header is ignored. Without proxies, attempts to sign in are slowed by name only, because all may come from the address of a proxy.',
    ),
  users: text('a path')
    .exactOptional()
    .describe(
      'The file of the users of the pages of `serve`: names, roles and hashed passwords, which `user add` writes. Without users, the pages are read-only on this machine, and refused elsewhere.',
    ),
  signIn: signIn
    .exactOptional()
    .describe(
      'A proxy where people sign in, which passes their names on in a header. Only names in `server.users` are let in.',
    ),
  metricsToken: textThat(
    (token) => Buffer.byteLength(token) >= shortestKey && !isGuessable(token),
    strongToken,
  )
    .describe(
      'The bearer token that `/metrics` of `serve` and `work` requires, of at least 24 random bytes. Without it, everybody who can connect may read the metrics.',
    )
    .register(confidentiality, { level: 'secret' })
    .exactOptional(),
});

const workers = group({
  leaseSeconds: numberUpTo(hourInSeconds)
    .default(30)
    .describe('How long a process may be silent before others take over its work.'),
  stopSeconds: numberUpTo(hourInSeconds)
    .default(3)
    .describe('How long a running step may continue after a stop was requested.'),
  connections: wholeNumber(2, 100)
    .default(5)
    .describe(
      'How many connections a process opens to PostgreSQL at most. One is kept for renewals of leases; steps wait for the others.',
    ),
});

const dayInMinutes = 1_440;

const imap = group({
  host: hostName().describe('The IMAP server.'),
  port: wholeNumber(1, 65_535)
    .exactOptional()
    .describe('Its port; by default 993, and 143 with `tls: starttls` or `tls: none`.'),
  user: text().describe('The user name on the IMAP server.').register(confidentiality, { level: 'private' }),
  password: text()
    .describe('The password, or an app password where the provider asks for one.')
    .register(confidentiality, { level: 'secret' }),
  folder: text('the name of a folder').default('INBOX').describe('The folder that is read.'),
  tls: oneOf('implicit', 'starttls', 'none')
    .default('implicit')
    .describe(
      'How the connection is encrypted: from its start, by STARTTLS, or not at all, which sends password and e-mails in plain text. The certificate is always verified.',
    ),
});

const mailboxes = ['imap', 'maildir'] as const;

/** The e-mails in which the service names bookings with an incorrect mapping. */
const verdicts = group({
  imap: imap.exactOptional().describe('A mailbox on an IMAP server.'),
  maildir: text('a path').exactOptional().describe('A maildir: a folder with `new` and `cur`.'),
  from: z
    .array(
      textLike(
        /^[^\s@<>,;:"()]*@[a-z0-9.-]+$/i,
        'an address such as reviews@service.example, or a domain such as "@service.example"',
      ),
      expected('a list of addresses and domains'),
    )
    .min(1, expected('a list of addresses and domains'))
    .exactOptional()
    .describe(
      'Whose e-mails count, as a list: addresses such as `reviews@service.example`, and domains such as `"@service.example"`. By default those of anybody count.',
    ),
  authenticatedBy: textLike(/^[a-z0-9._-]+$/i, 'the name of a mail server such as mx.example.com')
    .exactOptional()
    .describe(
      'The name by which your mail server signs its `Authentication-Results`, such as `mx.example.com`. With it, an e-mail counts only if that server found that DMARC or DKIM passes for its sender.',
    ),
  pollMinutes: numberUpTo(dayInMinutes).default(5).describe('How often `serve` looks for new e-mails.'),
})
  .refine((given) => mailboxes.filter((name) => given[name] !== undefined).length <= 1, {
    error: 'must hold only one of imap and maildir',
    when: ({ value }) => isGroup(value),
  })
  .refine(({ from, authenticatedBy }) => authenticatedBy === undefined || from !== undefined, {
    path: ['authenticatedBy'],
    error: 'needs verdicts.from: whose e-mails count',
    when: ({ value }) => isGroup(value),
  });

const forms = 'a time of day such as "06:00", or a group with at';
const time = () => timeOfDayOrNone('06:00');

/** By when the bookings of the day before must be reviewed. */
export const deadline = z.union(
  [
    time(),
    group(
      {
        at: time().describe('By when the bookings of all other days must be reviewed.'),
        exceptions: z
          .record(
            textThat(isCalendarDay, 'a day such as "2026-12-25"'),
            time(),
            expected('a group of days, such as "2026-12-25": none'),
          )
          .default({})
          .describe(
            'By business day, instead of `at`: `"2026-12-25": none` sets no deadline for the bookings of that day.',
          ),
      },
      forms,
    ),
  ],
  expected(forms),
);

/** A service that raises an alarm if it does not hear how the night went. */
export const heartbeat = group(
  {
    url: webAddress('https://hc-ping.com/…')
      .describe('The address that the service shows for its check, monitor or push. It is a secret.')
      .register(confidentiality, { level: 'secret' }),
    kind: oneOf(...heartbeatKinds)
      .default('healthchecks')
      .describe('The format of the calls: that of Healthchecks, Uptime Kuma or Cronitor.'),
  },
  'a group with url and kind',
);

/** The local copy of the account's mappings. */
export const mappings = group({
  cron: cronText('0 1 * * *')
    .exactOptional()
    .describe('When `serve` syncs the copy, in the configured time zone. Without it, `serve` does not sync.'),
  newHotels: text('a file')
    .exactOptional()
    .describe(
      'A file to which each sync, of `serve` or by hand, appends the master hotels that it saw for the first time, one line of JSON each.',
    ),
});

/** The files in which the service exports its mappings, on the server of `file.sftp`. */
const exportFiles = group({
  folder: z
    .string(expected('a path'))
    .default('')
    .describe('The folder, relative to the SFTP root, in which exports appear; by default the root itself.'),
});

const yearInHours = 8_784;

/** A booking's field exactly as sent: cleaning must not change it, and it must not read as missing. */
const fieldText = (kind: FieldKind) =>
  textThat(
    (value) => readField(kind, value) === value,
    'a text without white space at its ends that does not stand for a missing value',
  );

/** An agreed, deliberately wrong pair. */
export const canary = group({
  serviceId: wholeNumber(1, Number.MAX_SAFE_INTEGER).describe(
    "The master hotel of the pair, which the provider's hotel is not.",
  ),
  providerName: fieldText('text').describe("The provider's name."),
  providerHotelId: fieldText('code').describe("The provider's hotel id, in quotes if it is a number."),
  withinHours: numberUpTo(yearInHours)
    .default(12)
    .describe('How many hours after its delivery an e-mail must have named it.'),
});

const centuryInDays = 36_500;

const volume = group({
  minimum: wholeNumber(0, 1_000_000_000)
    .exactOptional()
    .describe(
      'Fewer accepted bookings than this are always too few, from the first night on. Without it, a day is only compared with the usual.',
    ),
  shareOfUsual: share()
    .exactOptional()
    .describe(
      'A day with less than this share of the usual number has too few bookings, in total or of a provider. Usual is the median of the good days of its weekday in eight weeks or, while fewer than three are known, of all good days. 0 compares nothing. Without it, it is 0.5; where eight or more such days differ by less than 10% of the usual, less than 75% is a warning, too.',
    ),
  onDrop: oneOf('warn', 'fail')
    .default('warn')
    .describe(
      'Whether a day with too few bookings is sent with a warning, and is not good until somebody accepts it, or fails before anything is sent.',
    ),
  exceptions: z
    .array(textThat(isCalendarDay, 'a day such as "2026-12-25"'), expected('a list of days'))
    .default([])
    .describe('Days, such as holidays, that are neither checked nor counted in what is usual.'),
});

/** All settings as they may be written. The page of settings is generated from this schema. */
export const settingsSchema = group({
  timezone: textThat(isTimeZone, 'a time zone such as Europe/Madrid')
    .default('UTC')
    .describe("The account's time zone, by its IANA name. It decides which day a booking belongs to."),
  service: service.describe('The mapping service and the account.'),
  source: sourceSchema.describe("Where a day's bookings come from."),
  delivery: oneOf('body', 'file')
    .default('body')
    .describe(
      'How bookings reach the service: in request bodies, or as a file on SFTP. By body, verdicts come by e-mail only: there is no list of affected bookings and no archived result.',
    ),
  body: body.prefault({}).describe('Delivery by request body.'),
  file: file.prefault({}).describe('Delivery by file.'),
  maxRejectedShare: share()
    .default(0.1)
    .describe(
      "The share of a day's records, not counting filtered ones, that may be rejected before the run fails and sends nothing. Of fewer than 20, one or half may be.",
    ),
  maxIncompleteShare: share()
    .default(0.5)
    .describe(
      "The share of a day's bookings that may lack their provider or the provider's hotel id, although the source has that column, before the run fails and sends nothing. It counts from 20 bookings on.",
    ),
  maxRefusedShare: share()
    .default(0.1)
    .describe("The share of a day's bookings that the service may refuse before the run stops."),
  volume: volume.prefault({}).describe('When a day has suspiciously few bookings.'),
  maxUnansweredShare: share()
    .default(0)
    .describe(
      "By file, the share of a day's bookings that the result may leave without a verdict; with more, the run fails.",
    ),
  maxAffectedShare: share()
    .default(0.05)
    .describe(
      'By file, the share of the bookings with a verdict that may be on an incorrect mapping; with more, the day is not good until somebody accepts it. It counts from 20 affected bookings on.',
    ),
  emptyDay: oneOf('succeed', 'fail')
    .default('fail')
    .describe('How the run of a day without bookings ends. A broken export can look like such a day.'),
  retry: retry.prefault({}).describe('When failed calls are retried.'),
  ledger: ledger
    .default('sqlite:./data/ledger.db')
    .describe(
      'The database of runs, steps and bookings. One on another machine needs TLS with a verified certificate (`?sslmode=verify-full`, with `&sslrootcert=FILE` for an authority of your own); `?sslmode=disable` permits a connection without TLS.',
    ),
  queue: queue
    .default('in-process')
    .describe(
      'What distributes steps to workers: its address, or a group. Redis on another machine needs `rediss://`, or `plaintext: allowed` in the group.',
    ),
  archive: textThat((value) => readArchiveLocation(value) !== undefined, 'a folder or s3://…')
    .default('./data/archive')
    .describe(
      "Where sent files and received results are kept: a folder or `s3://BUCKET/PREFIX`. Access to buckets comes from Amazon's own variables, such as `AWS_REGION`, `AWS_ENDPOINT_URL_S3` and `AWS_ACCESS_KEY_ID`, or from the profile or role of the machine.",
    ),
  keys: text('a folder')
    .exactOptional()
    .describe(
      "The folder of the keys that encrypt everything with guests' names in ledger, spool and archive, one per business day. It must be writable, and is created if it is missing. Back it up apart from the ledger. Without it, nothing is encrypted.",
    ),
  schedule: schedule.prefault({}).describe('The nightly run of `serve`.'),
  deadline: deadline
    .exactOptional()
    .describe(
      'By when the bookings of the day before must be reviewed, in the configured time zone: a time of day, or a group. A day that is not good by then is late, whether or not anything ran. Without it, no day is late.',
    ),
  heartbeat: heartbeat
    .exactOptional()
    .describe(
      'An outside service that raises an alarm if it gets no signal. Whichever process starts or ends the run of the day before calls it.',
    ),
  hook: hook.prefault({}).describe('The end-of-day hook of `serve`.'),
  notify: notify
    .default([])
    .describe('The channels that tell people what happened, and what should have happened but did not.'),
  server: server.prefault({}).describe('Where `serve` listens.'),
  workers: workers.prefault({}).describe('How processes share work.'),
  mappings: mappings.prefault({}).describe('The local copy of the mappings.'),
  verdicts: verdicts
    .prefault({})
    .describe('The e-mails in which the service names bookings with an incorrect mapping.'),
  canary: canary
    .exactOptional()
    .describe(
      "A deliberately wrong pair, agreed with the service and sent by body with each night's bookings. If no e-mail names it in time, the service reviews nothing, or its e-mails do not arrive.",
    ),
  export: exportFiles.prefault({}).describe("The service's exports of mappings, on the SFTP server."),
  guestNames: oneOf(...guestNameChoices)
    .default('send')
    .describe(
      "Whether guests' names are sent and stored (`send`), or left out (`omit`): by file, the booking's reference then stands in the name's column.",
    ),
  hashKey: textThat(
    (key) => key.length >= 16 && !isGuessable(key),
    'a random text of at least 16 characters, such as from `openssl rand -base64 32`',
  )
    .describe(
      'The key of the hashes by which erased guests are recognised when their day is replayed, and rejected records are found by their reference: the same for all processes, and never changed.',
    )
    .register(confidentiality, { level: 'secret' })
    .exactOptional(),
  guestNameDays: wholeNumber(1, centuryInDays)
    .default(30)
    .describe('After how many days guest names are blanked and archived bytes deleted. Checksums stay.'),
  recordDays: wholeNumber(1, centuryInDays)
    .default(800)
    .describe('After how many days bookings and verdicts are removed. The rows of runs stay.'),
})
  .refine(({ recordDays, guestNameDays }) => recordDays >= guestNameDays, {
    path: ['recordDays'],
    error: ({ input }) => sayWhatIsLess(input),
    when: ({ value }) =>
      isGroup(value) && Number.isInteger(value.recordDays) && Number.isInteger(value.guestNameDays),
  })
  .refine(({ schedule: { today }, source }) => today === undefined || !('doneMarker' in source), {
    path: ['schedule', 'today'],
    error: 'must not be set with source.doneMarker: the current day is not marked as done before it is over',
    when: ({ value }) => isGroup(value) && isGroup(value.schedule) && isGroup(value.source),
  })
  .refine(({ server: { signIn, users } }) => signIn === undefined || users !== undefined, {
    path: ['server', 'users'],
    error: expected('a path, as signIn is set: only names in that file are let in'),
    when: ({ value }) => isGroup(value) && isGroup(value.server),
  })
  .refine(({ server: { signIn, proxies } }) => signIn === undefined || proxies.length > 0, {
    path: ['server', 'proxies'],
    error: expected('the addresses of the proxies, as signIn is set: its header is trusted only from them'),
    when: ({ value }) => isGroup(value) && isGroup(value.server) && Array.isArray(value.server.proxies),
  })
  .refine(({ delivery, file: { sftp } }) => delivery !== 'file' || sftp !== undefined, {
    path: ['file', 'sftp'],
    error: expected(
      'a group with host, username, hostKey and a password or a privateKeyFile, as delivery is file',
    ),
    when: ({ value }) => isGroup(value) && isGroup(value.file),
  });

/** The settings as written, with all defaults. */
export type Settings = z.output<typeof settingsSchema>;

function sayWhatIsLess(settings: unknown): string {
  const { recordDays, guestNameDays } = isGroup(settings) ? settings : {};
  return `must be at least guestNameDays, which is ${guestNameDays}; it is ${recordDays}`;
}
