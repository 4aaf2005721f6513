import type { BusinessDay } from '../../booking/business-day.js';
import { SourceError } from '../../review/source.js';
import type { SftpAccount } from '../../settings/sftp-account.js';
import type { SftpServer } from '../../sftp/sftp.js';
import { formatBytes } from '../../text/format.js';
import type { SourceParts } from '../common/kind.js';
import {
  createLocalDayFile,
  type DayFile,
  type FileLocation,
  type FileReading,
  readFileLocation,
} from './day-file.js';
import { createS3DayFile } from './s3.js';
import { createSftpDayFile } from './sftp.js';

interface DayFileSettings {
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
async function openServer(
  { host, port, root }: SftpLocation,
  { hostKey, ...login }: SftpAccount,
): Promise<SftpServer> {
  const { createSftpServer } = await import('../../sftp/server.js');
  return createSftpServer({ host, port, root, ...login, hostKeys: [hostKey].flat() });
}

function expectAccount(account: SftpAccount | undefined): SftpAccount {
  if (account) return account;
  throw new RangeError('the schema let a source of sftp:// through without an account');
}

/** The text of a real day becomes about a tenth, repeated lines a fiftieth. */
const maxRatio = 200;
/** Below this size, the ratio says nothing: a day of a hundred equal bookings unpacks to many times its size. */
const leastBytes = 100_000_000;

/**
 * Refuses a file that is too large, or that unpacks to far more than a day's bookings do: whoever writes the file must not
 * decide how much disk and time is used.
 */
export function createLimitedDayFile(file: DayFile, maxBytes: number): DayFile {
  return {
    ...file,
    async *read(day, reading) {
      let bytes = 0;
      for await (const block of file.read(day, reading)) {
        const { done, total } = block.progress;
        bytes += block.bytes.length;
        if (Math.max(bytes, total) > maxBytes) {
          throw new SourceError(
            'unreadable',
            `${file.locate(day)} has ${total > maxBytes ? formatBytes(total) : `more than ${formatBytes(maxBytes)}`}, and at most ${formatBytes(maxBytes)} are read: is it a day's bookings?`,
          );
        }
        if (bytes > leastBytes && bytes > done * maxRatio) {
          throw new SourceError(
            'unreadable',
            `${file.locate(day)} unpacks to more than ${maxRatio} times its size: it can't be a day's bookings; have it exported again, or unpack it first`,
          );
        }
        yield block;
      }
    },
  };
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
