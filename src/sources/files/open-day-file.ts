import { type SftpAccount, toSftpLogin } from '../../settings/sftp-account.js';
import type { SftpServer } from '../../sftp/sftp.js';
import type { SourceParts } from '../common/kind.js';
import type { DayFile } from './day-file.js';
import { createLimitedDayFile } from './limited.js';
import { createLocalDayFile } from './local.js';
import { type FileLocation, readFileLocation } from './location.js';
import { createMarkedDayFile } from './marked.js';
import { createS3DayFile } from './s3.js';
import { createSftpDayFile } from './sftp.js';

export interface DayFileSettings {
  readonly path: string;
  readonly sftp?: SftpAccount | undefined;
  readonly doneMarker?: string | undefined;
}

/** Unpacked: far more than the largest day, and little enough for a disk. */
const maxBytes = 20e9;

type DayFileParts = Pick<SourceParts, 'openBucket'>;

/** Opens the daily file at the location that its path names. With a marker, it is there once the marker is. */
export function openDayFile({ path, sftp, doneMarker }: DayFileSettings, parts: DayFileParts): DayFile {
  const file = createLimitedDayFile(openAt(path, sftp, parts), maxBytes);
  return doneMarker === undefined ? file : createMarkedDayFile(file, openAt(doneMarker, sftp, parts));
}

function openAt(path: string, sftp: SftpAccount | undefined, { openBucket }: DayFileParts): DayFile {
  const location = readFileLocation(path);
  switch (location.kind) {
    case 'local':
      return createLocalDayFile(location.path);
    case 's3': {
      const { bucket, key } = location;
      return createS3DayFile({ bucket, key, open: () => openBucket(bucket) });
    }
    case 'sftp':
      return createSftpDayFile({
        address: showAddress(location),
        path: location.path,
        open: () => openServer(location, expectAccount(sftp)),
      });
  }
}

type SftpLocation = Extract<FileLocation, { kind: 'sftp' }>;

function showAddress({ host, port, root }: SftpLocation): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return `sftp://${name}:${port}${root === '' ? '/~' : ''}`;
}

/** Loads the SFTP client only for a source that needs it. */
async function openServer({ host, port, root }: SftpLocation, account: SftpAccount): Promise<SftpServer> {
  const { createSftpServer } = await import('../../sftp/server.js');
  return createSftpServer({ host, port, root, ...toSftpLogin(account) });
}

function expectAccount(account: SftpAccount | undefined): SftpAccount {
  if (account) return account;
  throw new RangeError('the schema let a source of sftp:// through without an account');
}
