import { pause, startTimeLimit } from '../../base/abort.js';
import { formatDuration } from '../../base/format.js';
import { SourceError } from '../../booking/source.js';
import { loginRefusals } from '../../rules/peers.js';
import { type S3Bucket, S3Error } from '../../transports/s3/bucket.js';
import { SftpError, type SftpServer, type SftpSession } from '../../transports/sftp/sftp.js';
import { createDayFile, type DayFile, parsePathTemplate } from './day-file.js';

interface S3DayFileOptions {
  readonly bucket: string;
  /** With `{day}` or `{day:ddMMyyyy}` (any date-fns pattern) as a placeholder for the day. */
  readonly key: string;
  /** Opens the bucket. Called for each read. */
  readonly open: () => Promise<S3Bucket>;
}

/**
 * Streams the day's object from a bucket. After a lost connection, reading resumes where it stopped.
 *
 * @throws RangeError for an invalid key template
 */
export function createS3DayFile({ bucket, key, open }: S3DayFileOptions): DayFile {
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
