import type { Config } from '../src/config/load.js';
import type { SftpServer } from '../src/sftp/sftp.js';
import type { DayFile } from '../src/sources/files/day-file.js';
import { createLocalDayFile } from '../src/sources/files/local.js';
import { type FileLocation, readFileLocation } from '../src/sources/files/location.js';
import { createS3DayFile } from '../src/sources/files/s3.js';
import { createSftpDayFile } from '../src/sources/files/sftp.js';
import { findBucket } from './buckets.js';
import { toSftpLogin } from './sftp-accounts.js';

type FileSettings = Pick<Extract<Config['source'], { kind: 'csv' | 'ndjson' }>, 'path' | 'sftp'>;

/** The file of each day, wherever the path says that it lies. */
export function openDayFile({ path, sftp }: FileSettings, config: Pick<Config, 's3'>): DayFile {
  const location = readFileLocation(path);
  switch (location.kind) {
    case 'local':
      return createLocalDayFile(location.path);
    case 's3': {
      const { bucket, key } = location;
      return createS3DayFile({ bucket, key, open: findBucket(config, bucket) });
    }
    case 'sftp':
      return createSftpDayFile({
        address: showAddress(location),
        path: location.path,
        open: () => openServer(location, sftp),
      });
  }
}

type SftpLocation = Extract<FileLocation, { kind: 'sftp' }>;

function showAddress({ host, port, root }: SftpLocation): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return `sftp://${name}:${port}${root === '' ? '/~' : ''}`;
}

/** Loads what speaks SFTP only where a source asks for it. */
async function openServer(
  { host, port, root }: SftpLocation,
  account: FileSettings['sftp'],
): Promise<SftpServer> {
  if (account === undefined)
    throw new RangeError('the schema let a source of sftp:// through without an account');
  const { createSftpServer } = await import('../src/sftp/server.js');
  return createSftpServer({ host, port, root, ...toSftpLogin(account) });
}
