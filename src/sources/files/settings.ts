import { resolve } from 'node:path';
import * as z from 'zod';
import {
  hasSftpSecret,
  resolveKeyFile,
  sftpAccount,
  sftpSecretMissing,
  sftpTimeout,
} from '../../settings/sftp-account.js';
import { expected, group, isAccepted, isGroup, text } from '../../settings/values.js';
import { recordSettings } from '../common/record-settings.js';
import { readFileLocation } from './location.js';
import { parsePathTemplate } from './path-template.js';

const sftp = group(
  { ...sftpAccount, timeoutSeconds: sftpTimeout },
  'a group with username, hostKey and a password or a privateKeyFile',
).refine(hasSftpSecret, sftpSecretMissing);

/**
 * The settings of a source of one file a day, whatever the format.
 *
 * @param meaning describes the kind
 */
export const dayFileSettings = <const Kind extends string>(kind: Kind, meaning: string) => ({
  kind: z.literal(kind, expected(kind)).describe(meaning),
  path: text('a path')
    .refine((path) => isAccepted(() => parsePathTemplate(path)), {
      abort: true,
      error: expected('a path with no braces but {day} and {day:PATTERN}, a date-fns pattern'),
    })
    .refine(
      (path) => isAccepted(() => readFileLocation(path)),
      expected('a path, s3://BUCKET/KEY or sftp://HOST[:PORT]/PATH, without a user, a query and ..'),
    )
    .describe(
      'The file: a path on this machine, `s3://BUCKET/KEY` or `sftp://HOST[:PORT]/PATH`. `{day}` stands for the day as YYYY-MM-DD, `{day:ddMMyyyy}` for the day in that date-fns pattern.',
    ),
  sftp: sftp.exactOptional().describe('The account on the SFTP server, where the path is `sftp://…`.'),
  ...recordSettings,
});

/** For `refine`: a file on an SFTP server needs an account. */
export const hasAccount = ({ path, sftp }: { readonly path: string; readonly sftp?: unknown }): boolean =>
  sftp !== undefined || !/^sftp:/i.test(path);

export const accountMissing = {
  path: ['sftp'],
  error: expected('a group with username, hostKey and a password or a privateKeyFile, as path is sftp://…'),
  when: ({ value }: { readonly value: unknown }) => isGroup(value) && typeof value.path === 'string',
};

type FileSettings = Pick<
  z.output<ReturnType<typeof group<ReturnType<typeof dayFileSettings>>>>,
  'path' | 'sftp'
>;

export function resolveDayFile<Settings extends FileSettings>(settings: Settings, folder: string): Settings {
  const { path, sftp } = settings;
  return {
    ...settings,
    path: readFileLocation(path).kind === 'local' ? resolve(folder, path) : path,
    ...(sftp && { sftp: resolveKeyFile(sftp, folder) }),
  };
}

export function listKeyFiles({ sftp }: FileSettings): readonly string[] {
  return sftp?.privateKeyFile === undefined ? [] : [sftp.privateKeyFile];
}
