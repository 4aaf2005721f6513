import * as z from 'zod';
import { createBusinessDay } from '../booking/business-day.js';
import { createResultNameTest, defaultResultPattern } from '../review/file/remote-files.js';
import { hasSftpSecret, sftpAccount, sftpSecretMissing, sftpTimeout } from '../settings/sftp-account.js';
import {
  expected,
  group,
  isAccepted,
  numberUpTo,
  oneOf,
  share,
  text,
  textLike,
  textThat,
  wholeNumber,
} from '../settings/values.js';

const anyDay = createBusinessDay('2000-01-01', 'UTC');
const hourInSeconds = 3_600;
const weekInMinutes = 10_080;

const sftp = group(
  {
    host: textLike(/^[^\s/@]+$/, 'a host name').describe('The SFTP server.'),
    port: wholeNumber(1, 65_535).default(22).describe("The SFTP server's port."),
    ...sftpAccount,
    root: text('a path')
      .default('/')
      .describe('The folder on the server that the service calls the SFTP root.'),
    timeoutSeconds: sftpTimeout,
  },
  'a group with host, username, hostKey and a password or a privateKeyFile',
).refine(hasSftpSecret, sftpSecretMissing);

/** Delivery by file. */
export const file = group({
  sftp: sftp.exactOptional().describe('The SFTP server; needed for file delivery only.'),
  incomplete: oneOf('post', 'reject', 'leave-empty')
    .default('post')
    .describe(
      'What happens to a booking that lacks a field: `post` sends it by body, `reject` rejects it, `leave-empty` puts it into the file with empty cells, which the file rules may or may not allow: ask the service. A field that reads as NULL never goes into the file: its booking is sent by body unless set to `reject`.',
    ),
  maxPostedShare: share()
    .default(0.5)
    .describe(
      "The share of a day's bookings that may be sent by body because the file cannot hold them, before the run fails and sends nothing. By body there is no result.",
    ),
  resultTimeoutMinutes: numberUpTo(weekInMinutes)
    .default(360)
    .describe('How long a run waits for its result before it ends without one.'),
  resultQuietSeconds: numberUpTo(hourInSeconds)
    .default(30)
    .describe('How long a result of unknown length must be unchanged to count as complete.'),
  resultPollSeconds: numberUpTo(hourInSeconds)
    .default(30)
    .describe('The longest time between two checks for the result.'),
  resultPattern: textThat(
    isResultPattern,
    'a file name with {day}, {day:PATTERN} (a date-fns pattern) and * for anything',
  )
    .default(defaultResultPattern)
    .describe("The pattern of the result's name; `*` stands for anything."),
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
