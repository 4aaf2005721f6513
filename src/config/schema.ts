import * as z from 'zod';
import { defaultMasterIdColumn, masterIdField, textFields } from '../booking/booking.js';
import { isCalendarDay, isTimeZone } from '../booking/business-day.js';
import { checkBaseUrl } from '../mapping-service/options.js';
import { createSlots } from '../schedule/slots.js';
import { isLongToken, readKeys, shortestKey } from '../server/signature.js';
import {
  confidentiality,
  expected,
  group,
  headerText,
  isAccepted,
  isGroup,
  numberUpTo,
  oneOf,
  oneOrMore,
  share,
  text,
  textLike,
  textThat,
  wholeNumber,
} from '../settings/values.js';
import { sourceSchema } from '../sources/registry.js';
import { file } from './file-delivery-settings.js';
import { ledger, queue, readArchiveLocation, s3 } from './locations.js';
import { exportFiles, mappings } from './mapping-settings.js';

const hourInSeconds = 3_600;
const dayInSeconds = 86_400;
const centuryInDays = 36_500;

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
      .describe('The address of the mapping service, including its version.'),
    apiKey: headerText()
      .describe("The account's API key, sent as the header `apikey`.")
      .register(confidentiality, { level: 'secret' }),
    accountId: headerText()
      .describe("The account's identifier, sent as the header `accountId`. A number needs quotes.")
      .register(confidentiality, { level: 'private' }),
    timeoutSeconds: numberUpTo(hourInSeconds).default(30).describe('How long a whole request may take.'),
    connectTimeoutSeconds: numberUpTo(hourInSeconds).default(10).describe('How long connecting may take.'),
    ca: text('a path')
      .exactOptional()
      .describe(
        "A PEM file with the certificate of the authority that signed the service's certificate. No other authority is then trusted.",
      ),
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
    httpStatus: z
      .record(
        textLike(/^[45]\d\d$/, 'an HTTP status from 400 to 599 such as 503'),
        oneOf('not-done', 'unknown', 'fatal', 'refused'),
        expected('a group of HTTP statuses, such as 503: not-done'),
      )
      .default({})
      .describe(
        'The meaning of each HTTP status from 400 to 599, where it differs from the defaults: the call was `not-done`, its outcome is `unknown`, or it ended as `fatal` or `refused`.',
      ),
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
  waits: wholeNumber(0, 1_000)
    .default(20)
    .describe(
      'How many times a step may wait because the service asked it to. Such a wait does not count as a try.',
    ),
  baseSeconds: numberUpTo(hourInSeconds)
    .default(1)
    .describe('The longest wait before the second try. It doubles with each further try.'),
  capSeconds: numberUpTo(dayInSeconds).default(60).describe('The longest wait between two tries.'),
  retryAfterCapSeconds: numberUpTo(dayInSeconds)
    .default(300)
    .describe('The longest wait that the service can request with `Retry-After`.'),
});

const cronFields = 'five cron fields such as "30 2 * * *"';

const volume = group({
  minimum: wholeNumber(0, 1_000_000_000)
    .exactOptional()
    .describe('Fewer accepted bookings than this are always too few. Without it, only what is usual counts.'),
  shareOfUsual: share()
    .default(0.5)
    .describe(
      'A day has too few bookings if it has less than this share of the usual number: the median of the same weekday over the last ' +
        'eight weeks, in total and per provider. 0 compares nothing.',
    ),
  onDrop: oneOf('warn', 'fail')
    .default('warn')
    .describe(
      'Whether a day with too few bookings is sent with a warning, or fails before anything is sent.',
    ),
  exceptions: z
    .array(textThat(isCalendarDay, 'a day such as "2026-12-25"'), expected('a list of days'))
    .default([])
    .describe('Days that are not compared, nor compared with, such as holidays.'),
});

const schedule = group({
  cron: textLike(/^\s*(?:[\w*/,?#-]+\s+){4}[\w*/,?#-]+\s*$/, cronFields)
    .refine((pattern) => isAccepted(() => createSlots(pattern, 'UTC')), expected(cronFields))
    .default('30 2 * * *')
    .describe('When `serve` starts the run of the day before, in the configured time zone.'),
  catchUpDays: wholeNumber(0, 366).default(3).describe('How many missed days `serve` catches up on.'),
  resumeMinutes: wholeNumber(1, 1_440)
    .default(30)
    .describe('How often `serve` resumes failed runs, and checks for late results and late exports.'),
  giveUpAfter: textLike(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'a time of day such as "12:00"')
    .default('12:00')
    .describe(
      'Until when `serve` tries a day again whose source is missing or not marked as done: the first such time of day after the ' +
        'slot or the call of the hook, in the configured time zone.',
    ),
});

const strongSecret = `at least ${shortestKey} random bytes, such as the output of: echo "whsec_$(openssl rand -base64 32)" (after whsec_, base64)`;
const strongToken = `at least ${shortestKey} random bytes, such as the output of: openssl rand -hex 32`;

const hook = group({
  secret: oneOrMore(
    textThat((secret) => isAccepted(() => readKeys(secret)), strongSecret),
    'a text or a list of texts',
  )
    .describe(
      'The secret that signs calls of the end-of-day hook, of at least 24 random bytes; a list while you rotate it.',
    )
    .register(confidentiality, { level: 'secret' })
    .exactOptional(),
  token: oneOrMore(textThat(isLongToken, strongToken), 'a text or a list of texts')
    .describe(
      'The bearer token for callers that cannot sign, of at least 24 random bytes; a list while you rotate it.',
    )
    .register(confidentiality, { level: 'secret' })
    .exactOptional(),
  toleranceSeconds: wholeNumber(1, dayInSeconds)
    .default(300)
    .describe('How old a signed call may be, and how far ahead its clock may run.'),
});

const server = group({
  host: text('a host name or an address')
    .default('127.0.0.1')
    .describe('The address on which `serve` listens; `0.0.0.0` for all addresses.'),
  port: wholeNumber(0, 65_535)
    .default(8080)
    .describe('The port of the hook, the status page, health and metrics; 0 picks a free one.'),
  hosts: z
    .array(
      textLike(
        /^(?:[a-z0-9_-]+\.)*[a-z0-9_-]+\.?$|^[0-9a-f.:]+$/i,
        'a host name or an address, without a port',
      ),
      expected('a list of host names'),
    )
    .default([])
    .describe(
      'The host names under which others reach `serve` or `work`, for example through a proxy. Loopback names and the address that is connected to are always allowed; requests for any other host are refused, except for `/healthz` and `/readyz`.',
    ),
  tls: group({
    certificateFile: text('a path').describe(
      'The certificate in PEM, followed by those of intermediate authorities. A renewed one is used within a minute.',
    ),
    keyFile: text('a path').describe('Its private key in PEM, without a passphrase.'),
  })
    .exactOptional()
    .describe('The certificate of `serve`; with it, `serve` speaks HTTPS only.'),
});

const workers = group({
  leaseSeconds: numberUpTo(hourInSeconds)
    .default(30)
    .describe('How long a process may be silent before others take over its work.'),
  reconcileSeconds: numberUpTo(hourInSeconds)
    .default(15)
    .describe(
      'How often each process enqueues steps again that are open in the ledger but missing from the queue.',
    ),
  stopSeconds: numberUpTo(hourInSeconds)
    .default(3)
    .describe('How long a running step may continue after a stop was requested.'),
  runsAtOnce: wholeNumber(1, 100)
    .default(2)
    .describe('How many runs of replayed ranges are worked on at once, across all processes.'),
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
      "The share of a day's records, without the filtered ones, that may be rejected before the run fails and sends nothing.",
    ),
  maxRefusedShare: share()
    .default(0.1)
    .describe("The share of a day's bookings that the service may refuse before the run stops."),
  volume: volume.prefault({}).describe('When a day has suspiciously few bookings.'),
  maxUnansweredShare: share()
    .default(0)
    .describe(
      "By file, the share of a day's bookings whose verdict the result may lack; with more, the run fails.",
    ),
  emptyDay: oneOf('succeed', 'fail')
    .default('fail')
    .describe(
      'How the run of a day without bookings ends. An export that broke can look like a day without.',
    ),
  retry: retry.prefault({}).describe('When failed calls are retried.'),
  ledger: ledger
    .default('sqlite:./data/ledger.db')
    .describe(
      'The database of runs, steps and bookings: its address, or a group. An address on another machine needs TLS with a verified certificate (`?sslmode=verify-full`), or `plaintext: allowed` in the group.',
    ),
  queue: queue
    .default('in-process')
    .describe(
      'What distributes steps to workers: its address, or a group. Redis on another machine needs `rediss://`, or `plaintext: allowed` in the group.',
    ),
  archive: textThat((value) => readArchiveLocation(value) !== undefined, 'a folder or s3://…')
    .default('./data/archive')
    .describe('Where sent files and received results are kept.'),
  s3: s3.prefault({}).describe('Access to the buckets of s3://….'),
  schedule: schedule.prefault({}).describe('The nightly run of `serve`.'),
  hook: hook.prefault({}).describe('The end-of-day hook of `serve`.'),
  server: server.prefault({}).describe('Where `serve` listens.'),
  workers: workers.prefault({}).describe('How processes share work.'),
  mappings: mappings.prefault({}).describe('The local copy of the mappings.'),
  export: exportFiles.prefault({}).describe("The service's exports of mappings, on the SFTP server."),
  hashKey: textThat(
    (key) => key.length >= 16,
    'a text of at least 16 characters, such as from `openssl rand -base64 32`',
  )
    .describe(
      'The key of the hashes by which erased guests are recognised when their day is replayed. The same for all processes, and never ' +
        'changed: guests that were erased under another key could not be recognised. It is not kept in the ledger.',
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
