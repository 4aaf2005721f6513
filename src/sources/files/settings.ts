import * as z from 'zod';
import { hasSftpSecret, sftpAccount, sftpSecretMissing, sftpSilence } from '../../settings/sftp-account.js';
import { expected, group, isAccepted, isGroup, text, textLike } from '../../settings/values.js';
import { recordSettings } from '../common/record-settings.js';
import { readFileLocation } from './location.js';
import { parsePathTemplate } from './path-template.js';

/** The account on the server that a path of sftp:// names. */
const sftpOfFile = group(
  { ...sftpAccount, timeoutSeconds: sftpSilence },
  'a group with username, hostKey and a password or a privateKeyFile',
).refine(hasSftpSecret, sftpSecretMissing);

/** What a day's file has, whatever it is written in. */
const dayFile = <const Kind extends string>(kind: Kind) => ({
  kind: z
    .literal(kind, expected(kind))
    .describe(
      "What the source is: the day's file as `csv`, with a header, or `ndjson`, one JSON object a line, plain or gzip; an API by `http`; a database by `sql`; or a `module` of your own.",
    ),
  path: text('a path')
    .refine(isPathTemplate, {
      abort: true,
      error: expected('a path with no braces but {day} and {day:PATTERN}, a date-fns pattern'),
    })
    .refine(
      isFileLocation,
      expected('a path, s3://BUCKET/KEY or sftp://HOST[:PORT]/PATH, without a user, a query and ..'),
    )
    .describe(
      'The file, on this machine, `s3://BUCKET/KEY` or `sftp://HOST[:PORT]/PATH`; `{day}` stands for the day as YYYY-MM-DD, `{day:ddMMyyyy}` for the day in that date-fns pattern.',
    ),
  sftp: sftpOfFile.exactOptional().describe('The account on the SFTP server, where the path is `sftp://…`.'),
  ...recordSettings,
});

/** For `refine`: who logs in has to be told where the file lies on a server. */
const hasAccount = ({ path, sftp }: { readonly path: string; readonly sftp?: unknown }): boolean =>
  sftp !== undefined || !/^sftp:/i.test(path);
const accountMissing = {
  path: ['sftp'],
  error: expected('a group with username, hostKey and a password or a privateKeyFile, as path is sftp://…'),
  when: ({ value }: { readonly value: unknown }) => isGroup(value) && typeof value.path === 'string',
};

/** One file a day, with a header. */
export const csv = group({
  ...dayFile('csv'),
  delimiter: textLike(/^[!#-/:-@[-`{-~\t]$/, 'one character such as , or ; or "\\t"')
    .default(',')
    .describe('The character between two cells.'),
}).refine(hasAccount, accountMissing);

/** One file a day, one JSON object a line. */
export const ndjson = group(dayFile('ndjson')).refine(hasAccount, accountMissing);

function isPathTemplate(path: string): boolean {
  return isAccepted(() => parsePathTemplate(path));
}

function isFileLocation(path: string): boolean {
  return isAccepted(() => readFileLocation(path));
}
