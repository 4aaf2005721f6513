import type { SftpAccount } from '../../base/sftp-account.js';
import type { BusinessDay } from '../../booking/business-day.js';
import { SourceError } from '../../booking/source.js';
import type { SourceParts } from '../common/kind.js';
import { createLocalDayFile, type DayFile, type FileReading, readFileLocation } from './day-file.js';
import { createS3DayFile, createSftpDayFile } from './remote-day-files.js';
import type { FileSettings } from './settings.js';

type OpenBucket = SourceParts['openBucket'];

/** Opens the daily file at the location that its path names. With a marker, it is there once the marker is. */
export function openDayFile({ path, sftp, doneMarker }: FileSettings, openBucket: OpenBucket): DayFile {
  const file = openAt(path, sftp, openBucket);
  return doneMarker === undefined ? file : createMarkedDayFile(file, openAt(doneMarker, sftp, openBucket));
}

function openAt(path: string, sftp: SftpAccount | undefined, openBucket: OpenBucket): DayFile {
  const location = readFileLocation(path);
  switch (location.kind) {
    case 'local':
      return createLocalDayFile(location.path);
    case 's3': {
      const { bucket, key } = location;
      return createS3DayFile({ bucket, key, open: () => openBucket(bucket) });
    }
    case 'sftp': {
      if (sftp === undefined)
        throw new RangeError('the schema let a source of sftp:// through without an account');
      const { host, port, root, path: file } = location;
      const { hostKey, ...login } = sftp;
      const name = host.includes(':') ? `[${host}]` : host;
      return createSftpDayFile({
        address: `sftp://${name}:${port}${root === '' ? '/~' : ''}`,
        path: file,
        async open() {
          // Only a source that needs the SFTP client loads it.
          const { createSftpServer } = await import('../../transports/sftp/server.js');
          return createSftpServer({ host, port, root, ...login, hostKeys: [hostKey].flat() });
        },
      });
    }
  }
}

/** The day's file, which counts as missing until its marker is there: it may still be being written. */
export function createMarkedDayFile(file: DayFile, marker: DayFile): DayFile {
  return {
    ...file,
    async *read(day, reading) {
      if (!(await isThere(marker, day, reading))) {
        throw new SourceError(
          'missing',
          `${file.locate(day)} is not marked as complete: there is no ${marker.locate(day)} (source.doneMarker)`,
        );
      }
      yield* file.read(day, reading);
    },
  };
}

/** Whatever the marker contains. */
async function isThere(marker: DayFile, day: BusinessDay, reading: FileReading): Promise<boolean> {
  try {
    for await (const _ of marker.read(day, reading)) break;
    return true;
  } catch (error) {
    if (error instanceof SourceError && error.fault === 'missing') return false;
    throw error;
  }
}
