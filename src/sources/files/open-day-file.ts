import { pause, startTimeLimit } from '../../base/abort.js';
import { formatDuration } from '../../base/format.js';
import type { SftpAccount } from '../../base/sftp-account.js';
import type { BusinessDay } from '../../booking/business-day.js';
import { SourceError } from '../../booking/source.js';
import { loginRefusals } from '../../rules/peers.js';
import { type S3Bucket, S3Error } from '../../transports/s3/bucket.js';
import { SftpError, type SftpServer, type SftpSession } from '../../transports/sftp/sftp.js';
import type { SourceParts } from '../common/kind.js';
import {
  createDayFile,
  createLocalDayFile,
  type DayFile,
  type FileReading,
  parsePathTemplate,
  readFileLocation,
} from './day-file.js';
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
      return createS3DayFile(bucket, key, () => openBucket(bucket));
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

/**
 * Streams the day's object from a bucket. After a lost connection, reading resumes where it stopped.
 *
 * @param key with `{day}` or `{day:ddMMyyyy}` (any date-fns pattern) as a placeholder for the day
 * @param open opens the bucket, for each read
 * @throws RangeError for an invalid key template
 */
export function createS3DayFile(bucket: string, key: string, open: () => Promise<S3Bucket>): DayFile {
  const writeKey = parsePathTemplate(key);
  const locate: DayFile['locate'] = (day) => `s3://${bucket}/${writeKey(day)}`;
  return createDayFile({
    locate,
    async *read(day, { signal }) {
      try {
        const { read } = await open();
        yield* read(writeKey(day), { signal });
      } catch (error) {
        throw explainS3Error(error, locate(day));
      }
    },
  });
}

function explainS3Error(error: unknown, location: string): unknown {
  if (!(error instanceof S3Error)) return error;
  const { fault, code, message, peer } = error;
  if (fault === 'missing')
    return new SourceError('missing', `there is no object ${location}`, { cause: error });
  if (fault === 'changed') {
    const why = 'changed while it was read: is it still being written?';
    return new SourceError('truncated', `${location} ${why}`, { cause: error });
  }
  // Without permission to list, S3 gives the same error whether or not the object exists.
  if (code === 'AccessDenied') {
    const hint = 'without s3:ListBucket, S3 reports a missing object this way too';
    return new SourceError('unreadable', `${message}; ${hint}`, { cause: error });
  }
  const refusal = fault === 'denied' && peer === 'refused' ? 'login-refused' : 'unreadable';
  return new SourceError(code === 'CutOff' ? 'truncated' : refusal, message, { cause: error, peer });
}

interface SftpDayFileOptions {
  /** `sftp://HOST:PORT`, for people. */
  readonly address: string;
  /** Relative to the server's root, with `{day}` or `{day:ddMMyyyy}` (any date-fns pattern) as a placeholder for the day. */
  readonly path: string;
  /** How long reading the file may take, even if it progresses; an hour by default. */
  readonly transferMs?: number;
  /** Opens the server. Called for each read. */
  readonly open: () => Promise<SftpServer>;
}

/** How much to request at a time: enough to outweigh the round trip. */
const rangeBytes = 2 * 1024 * 1024;

/**
 * Streams the day's file from an SFTP server. After a lost connection, reading resumes where it stopped. At the end, size
 * and, where the server keeps it, modification time are compared: a file that is still being written must not pass for a
 * whole day.
 *
 * @throws RangeError for an invalid path template
 */
export function createSftpDayFile({
  address,
  path,
  transferMs = 3_600_000,
  open,
}: SftpDayFileOptions): DayFile {
  const writePath = parsePathTemplate(path);
  const locate: DayFile['locate'] = (day) => `${address}/${writePath(day)}`;
  return createDayFile({
    locate,
    async *read(day, { signal }) {
      const location = locate(day);
      const file = writePath(day);
      const limit = startTimeLimit(signal, transferMs, () => tooSlow(location, transferMs));
      const session = createRetryingSession(await open(), limit.signal);
      let done = 0;
      try {
        const found = await session.run((server) => server.stat(file));
        if (found === undefined) throw new SourceError('missing', `there is no file ${location}`);
        while (done < found.size) {
          const range = { from: done, to: Math.min(found.size, done + rangeBytes) };
          const bytes = await session.run((server) => server.readRange(file, range));
          done = range.to;
          yield { bytes, size: found.size };
        }
        if (await session.run((server) => server.hasChanged(file, found))) throw changed(location);
      } catch (error) {
        throw explainSftpError(error, location, done);
      } finally {
        limit.stop();
        await session.close();
      }
    },
  });
}

function tooSlow(location: string, transferMs: number): SourceError {
  const what = `${location} is not read after ${formatDuration(transferMs)}`;
  return new SourceError('unreadable', `${what}; is the server slow?`);
}

function changed(location: string, cause?: unknown): SourceError {
  return new SourceError('truncated', `${location} changed while it was read: is it still being written?`, {
    cause,
  });
}

/** @param done how many bytes had arrived */
function explainSftpError(error: unknown, location: string, done: number): unknown {
  if (!(error instanceof SftpError)) return error;
  const { kind, code, message } = error;
  if (code === 'changed-while-reading') return changed(location, error);
  if (code === 'no-such-file') {
    return done > 0
      ? changed(location, error)
      : new SourceError('missing', `there is no file ${location}`, { cause: error });
  }
  const isCutOff = kind === 'retryable' && done > 0;
  const refusal = loginRefusals.includes(code) ? 'login-refused' : 'unreadable';
  return new SourceError(isCutOff ? 'truncated' : refusal, `${location} can't be read: ${message}`, {
    cause: error,
    ...(kind === 'retryable' && { peer: 'passing' }),
  });
}

const tries = 4;
const firstPauseMs = 250;

/** Runs repeatable operations in a session that opens on demand, and reopens a few times if the connection is lost. */
function createRetryingSession(server: SftpServer, signal: AbortSignal) {
  let session: SftpSession | undefined;

  /** Never throws. */
  async function close(): Promise<void> {
    const open = session;
    session = undefined;
    await open?.close();
  }

  /** @throws SftpError after the last try; the signal's reason when it aborts */
  async function run<Result>(operation: (session: SftpSession) => Promise<Result>): Promise<Result> {
    for (let tried = 1; ; tried += 1) {
      try {
        session ??= await server.connect({ signal });
        return await operation(session);
      } catch (error) {
        await close();
        signal.throwIfAborted();
        if (tried === tries || !isLost(error)) throw error;
      }
      await pause(firstPauseMs * 2 ** (tried - 1), signal);
      signal.throwIfAborted();
    }
  }

  return { run, close };
}

function isLost(error: unknown): boolean {
  return (
    error instanceof SftpError &&
    error.kind === 'retryable' &&
    !['no-such-file', 'changed-while-reading'].includes(error.code)
  );
}
