import * as z from 'zod';
import { isTimeZone } from '../base/geography.js';
import { isGuessable } from '../base/guessable.js';
import {
  confidentiality,
  expected,
  group,
  isAccepted,
  isGroup,
  numberUpTo,
  oneOf,
  share,
  text,
  textLike,
  textThat,
  timeOfDayOrNone,
  webAddress,
  wholeNumber,
} from '../base/setting-values.js';
import type { FieldKind } from '../booking/booking.js';
import { isCalendarDay } from '../booking/business-day.js';
import { readField } from '../booking/field-text.js';
import { guestNameChoices } from '../booking/guest-names.js';
import { notify } from '../notify/channels/channel-settings.js';
import { heartbeatKinds } from '../notify/channels/heartbeat.js';
import { createCronTimes } from '../schedule/cron-times.js';
import { sourceSchema } from '../sources/registry.js';
import { file } from './file-delivery-settings.js';
import { ledger, queue, readArchiveLocation } from './locations.js';
import { hook, schedule, server, workers } from './serve-settings.js';
import { body, retry, service } from './service-settings.js';
import { verdicts } from './verdict-mail-settings.js';

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

const cronFields = 'five cron fields such as "0 1 * * *"';

/** The local copy of the account's mappings. */
export const mappings = group({
  cron: textLike(/^\s*(?:[\w*/,?#-]+\s+){4}[\w*/,?#-]+\s*$/, cronFields)
    .refine((pattern) => isAccepted(() => createCronTimes(pattern, 'UTC')), expected(cronFields))
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
