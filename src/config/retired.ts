// What 0.1.0 knew and 1.0 no longer does, each with one sentence that says what to use instead. This file goes with 1.1.
import { isGroup } from '../base/setting-values.js';
import { formatPath, type Problem } from './problems.js';

type RetiredSetting = readonly [
  /** Separated by spaces; `*` stands for each item of a list and each member of a group. */
  paths: string,
  instead: string,
  /** Whether this value is retired; without it, all are. */
  isRetired?: (value: unknown) => boolean,
];

const deadlineNames = /^(?:default|(?:mon|tues|wednes|thurs|fri|satur|sun)day)$/;
const gone = 'no longer exists';
const ownAuthority = `${gone}: name the file of your authority in the environment variable NODE_EXTRA_CA_CERTS`;

const retiredSettings: readonly RetiredSetting[] = [
  ['source.pagination.behindLast', 'is called afterLastPage now'],
  ['mappings.fillServiceId', `${gone}: let the source name the ServiceId of each booking`],
  [
    'source.url',
    'SQLite is no longer read as a source: write a small bookings module (kind: module) instead',
    (url) => typeof url === 'string' && /^sqlite:/i.test(url),
  ],
  ['watch', 'remove it: nothing is sent again when a mapping moves; its stays are in the cases'],
  ['notify.*.quietHours', `${gone}: set minimum, the lowest severity that the channel gets`],
  [
    'deadline',
    'has one time, at, for all days, and exceptions by date',
    (deadline) => isGroup(deadline) && Object.keys(deadline).some((name) => deadlineNames.test(name)),
  ],
  [
    'guestNames',
    "pseudonym no longer exists: set omit, which by file puts the booking's reference in the name's column",
    (value) => value === 'pseudonym',
  ],
  ['service.ca', ownAuthority],
  ['service.connectTimeoutSeconds', `${gone}: it is always 10`],
  ['service.httpStatus', `${gone}: the meaning of an HTTP status is always the usual one`],
  ['source.ca', `${ownAuthority}, or for PostgreSQL in source.url with sslrootcert=FILE`],
  ['source.plaintext', `${gone}: source.url says ?sslmode=disable itself`],
  ['source.queryFile', `${gone}: write query: $\{file:bookings.sql}`],
  ['source.bearerToken', `${gone}: write headers: { Authorization: "Bearer $\{TOKEN}" }`],
  ['source.basic', `${gone}: write headers: { Authorization: "Basic …" } with USER:PASSWORD in base64`],
  [
    'source.pagination.size source.pagination.sizeParameter source.pagination.limit source.pagination.limitParameter',
    `${gone}: the number of bookings per page goes into source.url, as in ?limit=100`,
  ],
  ['source.maxPages', `${gone}: it is always 10,000`],
  ['source.connectTimeoutSeconds', `${gone}: it is always 10`],
  [
    's3',
    `${gone}: use Amazon's own variables, AWS_REGION, AWS_ENDPOINT_URL_S3, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`,
  ],
  ['notify.*.ca verdicts.imap.ca', ownAuthority],
  ['source.sftp.passphrase file.sftp.passphrase', `${gone}: use a key without a passphrase`],
  ['source.sftp.timeoutSeconds file.sftp.timeoutSeconds', `${gone}: it is always 30`],
  ['source.sftp.transferMinutes file.sftp.transferMinutes', `${gone}: it is always 60`],
  ['file.sftp.maxEntries', `${gone}: it is always 100,000`],
  ['source.maxGigabytes', `${gone}: it is always 20`],
  [
    'source.where.* source.where.*.not',
    'is a list, such as [CONF]',
    (value) => !isGroup(value) && !Array.isArray(value),
  ],
  ['file.maxResultFactor', `${gone}: it is always 10`],
  ['file.resultDelimiter file.resultEncoding', `${gone}: it is always found`],
  ['notify.*.guestNames', `${gone}: no message names a guest`],
  ['notify.*.secret', 'is one text, no longer a list', Array.isArray],
  [
    'notify.*.to verdicts.from',
    'is a list, such as ["name@example.com"]',
    (value) => typeof value === 'string',
  ],
  ['verdicts.path', `${gone}: use verdicts import FILE, or a maildir`],
  ['verdicts.matchDays', `${gone}: it is always 14`],
  ['verdicts.imap.plaintext', `${gone}: tls: none says it`],
  ['verdicts.imap.markSeen', `${gone}: nothing in the mailbox is changed`],
  ['retry.waits', `${gone}: it is always 20`],
  ['retry.retryAfterCapSeconds', `${gone}: it is always 300`],
  ['workers.reconcileSeconds', `${gone}: it is half of workers.leaseSeconds, and at most 15`],
  ['workers.runsAtOnce', `${gone}: it is always 2`],
  ['cases', `${gone}: a reported case is always escalated after 3 days`],
  ['hook.token', `${gone}: callers that cannot sign send hook.secret as their bearer token`],
  ['hook.secret server.metricsToken', 'is one text, no longer a list', Array.isArray],
  ['hook.toleranceSeconds', `${gone}: it is always 300`],
  ['server.idleMinutes', `${gone}: it is always 30`],
  ['server.tls', `${gone}: put a proxy with TLS in front of serve`],
  ['mappings.limit', `${gone}: it is always 1,000`],
  [
    'mappings.providerFamily',
    `${gone}: the copy holds all providers; for one, use mappings sync --provider-family`,
  ],
  [
    'mappings.overlapMinutes mappings.deletedTypes mappings.resumeKeyCodes mappings.lastPage mappings.maxPagesWithoutNews mappings.maxSkippedShare mappings.suspectDays',
    `${gone}: it always has the value that was its default`,
  ],
  [
    'export.mappingsPattern export.transformedPattern export.hotelsPattern',
    `${gone}: the names are always ACCOUNT_mappings_ID.csv, ACCOUNT_transformed_ID.csv and ACCOUNT_hotels_ID.csv`,
  ],
  ['export.pollSeconds', 'is file.resultPollSeconds now'],
  ['export.quietSeconds', 'is file.resultQuietSeconds now'],
  ['export.timeoutMinutes', 'is file.resultTimeoutMinutes now'],
  ['export.maxGigabytes', `${gone}: it is always 20`],
];

/** The retired settings that a configuration still has. */
export function findRetiredSettings(tree: unknown): Problem[] {
  return retiredSettings.flatMap(([paths, message, isRetired = () => true]) =>
    paths
      .split(' ')
      .flatMap((path) => listValues(tree, path.split('.')))
      .filter(({ value }) => isRetired(value))
      .map((found) => ({ path: formatPath(found.path), message })),
  );
}

interface Place {
  readonly path: readonly PropertyKey[];
  readonly value: unknown;
}

function listValues(tree: unknown, path: readonly string[]): readonly Place[] {
  return path.reduce<readonly Place[]>(
    (places, name) =>
      places.flatMap(({ path: before, value }) =>
        listMembers(value)
          .filter(([member]) => name === '*' || name === member)
          .map(([member, inside]) => ({ path: [...before, member], value: inside })),
      ),
    [{ path: [], value: tree }],
  );
}

function listMembers(value: unknown): readonly (readonly [PropertyKey, unknown])[] {
  if (Array.isArray(value)) return value.map((item, index) => [index, item]);
  return isGroup(value) ? Object.entries(value) : [];
}

interface RetiredCommand {
  /** The command, and an option of it if only that is retired. `RUN` stands for the id of a run. */
  readonly words: string;
  readonly instead: string;
}

const runId = /^\d{8}-[a-z\d]{8}$/;

const retiredCommands: readonly RetiredCommand[] = [
  {
    words: 'sandbox --changes-per-hour',
    instead: 'the sandbox does not change while it runs; start it again with `--changes N`',
  },
  {
    words: 'sandbox --wrong-mappings',
    instead: 'use `sandbox bookings --wrong-share`, or `sandbox --changes` for mappings that move',
  },
  { words: 'sandbox --world', instead: 'there is one world; `sandbox bookings --seed` makes other bookings' },
  { words: 'sandbox bookings --folder', instead: 'leave it out, since every sandbox has the same world' },
  { words: 'watch', instead: '`mappings sync` examines the moves against stays ahead and opens their cases' },
  {
    words: 'guest export --name',
    instead: 'list the references with `show --name NAME`, then `guest export REF`',
  },
  {
    words: 'guest erase --name',
    instead: 'list the references with `show --name NAME`, then `guest erase REF --reason TEXT`',
  },
  { words: 'report --markdown', instead: 'use the text, or the page that `report D --html FILE` writes' },
  {
    words: 'affected --sort',
    instead:
      'guests in house come first, then the nearest check-in; `--csv FILE` writes your own columns to a file that you can sort',
  },
  {
    words: 'cases --sort',
    instead:
      'guests in house come first, then the nearest check-in; `--csv FILE` writes your own columns to a file that you can sort',
  },
  {
    words: 'case --sort',
    instead: 'open bookings come first: of guests in house, then with the nearest check-in',
  },
  {
    words: 'suspects --sort',
    instead: '`--csv FILE` writes your own columns to a file that you can sort',
  },
  { words: 'cancel RUN', instead: 'name the day, whose unfinished run `cancel D --reason TEXT` abandons' },
];

/** The sentence about a retired command or option on a command line that could not be understood. */
export function explainRetiredCommand(words: readonly string[]): string | undefined {
  const found = retiredCommands.find(({ words: retired }) =>
    retired
      .split(' ')
      .every((word, place) =>
        word.startsWith('-')
          ? words.some((given) => given === word || given.startsWith(`${word}=`))
          : word === 'RUN'
            ? words.some((given) => runId.test(given))
            : words[place] === word,
      ),
  );
  return found && `\`${found.words}\` no longer exists: ${found.instead}`;
}
