import { resolve } from 'node:path';
import * as z from 'zod';
import { encodings } from '../../base/encoding.js';
import {
  expected,
  group,
  isAccepted,
  isGroup,
  oneOf,
  resolveMember,
  text,
} from '../../base/setting-values.js';
import { hasSftpSecret, type SftpAccount, sftpAccount, sftpSecretMissing } from '../../base/sftp-account.js';
import type { BusinessDay } from '../../booking/business-day.js';
import type { LocalFile } from '../common/kind.js';
import { recordSettings } from '../common/record-settings.js';
import { dependsOnDay, parsePathTemplate, readFileLocation } from './day-file.js';

const sftp = group(sftpAccount, 'a group with username, hostKey and a password or a privateKeyFile').refine(
  hasSftpSecret,
  sftpSecretMissing,
);

const filePath = () =>
  text('a path')
    .refine((path) => isAccepted(() => parsePathTemplate(path)), {
      abort: true,
      error: expected('a path with no braces but {day}, {day+1} and {day:PATTERN}, a date-fns pattern'),
    })
    .refine(
      (path) => isAccepted(() => readFileLocation(path)),
      expected('a path, s3://BUCKET/KEY or sftp://HOST[:PORT]/PATH, without a user, a query and ..'),
    );

/**
 * The settings of a source of one file a day, whatever the format.
 *
 * @param meaning describes the kind
 */
export const dayFileSettings = <const Kind extends string>(kind: Kind, meaning: string) => ({
  kind: z.literal(kind, expected(kind)).describe(meaning),
  path: filePath().describe(
    'The file: a path on this machine, `s3://BUCKET/KEY` or `sftp://HOST[:PORT]/PATH`. `{day}` stands for the day as YYYY-MM-DD, `{day:ddMMyyyy}` for the day in that date-fns pattern, and `{day+1}` or `{day+1:ddMMyyyy}` for the next day, where files are named by it.',
  ),
  doneMarker: filePath()
    .refine(
      dependsOnDay,
      expected('a path with {day} in it: the marker of one day must not stand for another'),
    )
    .exactOptional()
    .describe(
      'A file, written like `path`, whose existence says that the export is complete. Until then, the day counts as missing.',
    ),
  encoding: oneOf(...encodings)
    .default('utf-8')
    .describe('The encoding of the file. A byte order mark in the file takes precedence.'),
  sftp: sftp
    .exactOptional()
    .describe('The account on the SFTP server, if the path or the marker is `sftp://…`.'),
  ...recordSettings,
});

/** For `refine`: a file on an SFTP server needs an account. */
export const hasAccount = ({
  path,
  doneMarker = '',
  sftp,
}: {
  readonly path: string;
  readonly doneMarker?: string | undefined;
  readonly sftp?: unknown;
}): boolean => sftp !== undefined || ![path, doneMarker].some((each) => /^sftp:/i.test(each));

export const accountMissing = {
  path: ['sftp'],
  error: expected(
    'a group with username, hostKey and a password or a privateKeyFile, as path or doneMarker is sftp://…',
  ),
  when: ({ value }: { readonly value: unknown }) => isGroup(value) && typeof value.path === 'string',
};

/** Where a day's file is. */
export interface FileSettings {
  readonly path: string;
  readonly doneMarker?: string | undefined;
  readonly sftp?: SftpAccount | undefined;
}

/** What is the same for every kind of source that is one file a day. */
export const dayFileKind = {
  placeUnit: 'line',
  resolve<Settings extends FileSettings>(settings: Settings, folder: string): Settings {
    const { path, doneMarker, sftp } = settings;
    const resolvePath = (one: string) => (isLocal(one) ? resolve(folder, one) : one);
    return {
      ...settings,
      path: resolvePath(path),
      ...(doneMarker !== undefined && { doneMarker: resolvePath(doneMarker) }),
      ...(sftp && { sftp: resolveMember(sftp, 'privateKeyFile', folder) }),
    };
  },
  listSecretFiles: ({ sftp }: FileSettings): readonly string[] =>
    sftp?.privateKeyFile === undefined ? [] : [sftp.privateKeyFile],
  listLocalFiles: ({ path }: FileSettings, day: BusinessDay): readonly LocalFile[] =>
    isLocal(path) ? [{ path: parsePathTemplate(path)(day), holds: 'bookings' }] : [],
  findSamePath: ({ path }: FileSettings) => (dependsOnDay(path) ? undefined : path),
};

const isLocal = (path: string) => readFileLocation(path).kind === 'local';
