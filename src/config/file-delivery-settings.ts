import * as z from 'zod';
import {
  expected,
  group,
  hostName,
  isAccepted,
  numberUpTo,
  oneOf,
  share,
  text,
  textThat,
  wholeNumber,
} from '../base/setting-values.js';
import { hasSftpSecret, sftpAccount, sftpSecretMissing } from '../base/sftp-account.js';
import { createBusinessDay } from '../booking/business-day.js';
import { createResultNameTest, defaultResultPattern } from '../review/file/remote-files.js';
import {
  defaultResultColumn,
  defaultResultValues,
  type ResultValues,
  readCellText,
} from '../review/file/result.js';

const anyDay = createBusinessDay('2000-01-01', 'UTC');
const hourInSeconds = 3_600;
const weekInMinutes = 10_080;

const sftp = group(
  {
    host: hostName().describe('The SFTP server.'),
    port: wholeNumber(1, 65_535).default(22).describe("The SFTP server's port."),
    ...sftpAccount,
    root: text('a path')
      .default('/')
      .describe('The folder on the server that the service calls the SFTP root.'),
  },
  'a group with host, username, hostKey and a password or a privateKeyFile',
).refine(hasSftpSecret, sftpSecretMissing);

/** Delivery by file. */
export const file = group({
  sftp: sftp
    .exactOptional()
    .describe('The SFTP server; needed for delivery by file and for exports of the mappings.'),
  incomplete: oneOf('post', 'reject', 'leave-empty')
    .default('post')
    .describe(
      'What happens to a booking that lacks a field: `post` sends it by body (its verdict then comes by e-mail only), `reject` rejects it, `leave-empty` puts it into the file with empty cells, if the service allows that.',
    ),
  maxPostedShare: share()
    .default(0.5)
    .describe(
      "The share of a day's bookings that may be sent by body because the file cannot hold them, before the run fails and sends nothing.",
    ),
  resultTimeoutMinutes: numberUpTo(weekInMinutes)
    .default(360)
    .describe('How long a run waits for its complete result, and `export fetch` for an export.'),
  resultQuietSeconds: numberUpTo(hourInSeconds)
    .default(30)
    .describe(
      'How long a result must be unchanged to count as complete if its end cannot be recognised. Exports, too.',
    ),
  resultPollSeconds: numberUpTo(hourInSeconds)
    .default(30)
    .describe('The longest time between two checks for the result, or for an export.'),
  resultPattern: textThat(
    isResultPattern,
    'a file name with {day}, {day:PATTERN} (a date-fns pattern) and * for anything',
  )
    .default(defaultResultPattern)
    .describe("The pattern of the result's name; `*` stands for anything."),
  resultNames: oneOf('all', 'incorrect')
    .default('all')
    .describe(
      'What the result names: `all` bookings of the file, or `incorrect` ones only; the others then count as correct once the result has been unchanged for `resultQuietSeconds`.',
    ),
  resultColumn: text('the name of a column')
    .default(defaultResultColumn)
    .describe("The result's column with the verdicts; case, spaces, `_` and `-` make no difference."),
  resultValues: group({
    correct: words()
      .default([...defaultResultValues.correct])
      .describe('The words for a correct mapping, in any case.'),
    incorrect: words()
      .default([...defaultResultValues.incorrect])
      .describe('The words for an incorrect mapping, in any case.'),
  })
    .refine(isUnambiguous, expected('no word in both lists'))
    .prefault({})
    .describe("The words of the result's verdicts. A row with any other word has no verdict."),
  removeAfterDays: wholeNumber(1, 36_500)
    .exactOptional()
    .describe(
      'After how many days our files and their results are removed from the SFTP server, if it permits that. Only files that match the ledger byte for byte are removed. Without it, none are.',
    ),
  spool: text('a path')
    .default('./data/spool')
    .describe('The folder for files on their way to and from the server. It is a cache.'),
  ftpFilePathPrefix: z
    .string(expected('a text'))
    .default('')
    .describe('A prefix for the path, relative to the SFTP root, that is passed to the service.'),
});

function isResultPattern(pattern: string): boolean {
  return isAccepted(() => createResultNameTest(pattern, anyDay));
}

/** At least one word that a cell can contain. YAML reads some of them as other values than texts. */
function words() {
  const what = expected('a word');
  const word = z.union([z.string(what), z.number(what), z.boolean(what)], what);
  return z
    .array(
      word.refine((value) => readCellText(String(value)) === String(value), what),
      expected('a list of words'),
    )
    .min(1, expected('a list of words'));
}

function isUnambiguous({ correct, incorrect }: ResultValues): boolean {
  const fold = (word: unknown) => String(word).toLowerCase();
  const folded = new Set(correct.map(fold));
  return !incorrect.some((word) => folded.has(fold(word)));
}
