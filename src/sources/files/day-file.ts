import type { Stats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { toFixedBlocks } from '../../base/content.js';
import { formatBytes } from '../../base/format.js';
import { codeOf } from '../../base/safe-error.js';
import type { BusinessDay } from '../../booking/business-day.js';
import { SourceError } from '../../booking/source.js';
import { readS3Location } from '../../transports/s3/bucket.js';
import { anyDay, type DayTemplate, parseTemplate, readDayPlaceholder } from '../common/day-template.js';

export interface FileBlock {
  /** Decompressed if the file is gzip. */
  readonly bytes: Buffer;
  /** In bytes of the file itself, compressed or not. */
  readonly progress: { readonly done: number; readonly total: number };
}

export interface FileReading {
  /** How many bytes to read, and to decompress, at a time. */
  readonly blockBytes: number;
  readonly signal: AbortSignal;
}

/** The file of a day, wherever it is stored. */
export interface DayFile {
  /** For people, without secrets. */
  locate(day: BusinessDay): string;
  /** Its size, compressed or not, if another thread can open it again; undefined otherwise, or if there is no file. */
  measure(day: BusinessDay): Promise<number | undefined>;
  /**
   * Streams its bytes. Everything is closed when reading ends, even if the reader stops early or the signal aborts.
   *
   * @throws SourceError `missing`, `unreadable`, or `truncated` for damaged gzip data, a connection that was lost for good,
   *   or a file that changed while it was read; the signal's reason when it aborts
   */
  read(day: BusinessDay, reading: FileReading): AsyncIterable<FileBlock>;
}

/** Where the files of all days are stored, as they are. */
export interface FileStore {
  readonly locate: (day: BusinessDay) => string;
  readonly measure?: (day: BusinessDay) => Promise<number | undefined>;
  /** Yields pieces of any length, each with the size of the whole file. @throws SourceError */
  readonly read: (
    day: BusinessDay,
    reading: FileReading,
  ) => AsyncIterable<{ readonly bytes: Uint8Array; readonly size: number }>;
}

/** Unpacked: far more than the largest day, and little enough for a disk. */
const mostBytes = 20e9;
/** The text of a real day becomes about a tenth, repeated lines a fiftieth. */
const maxRatio = 200;
/** Below this size, the ratio says nothing: a day of a hundred equal bookings unpacks to many times its size. */
const leastUnpacked = 100_000_000;

/**
 * Reads a day's file from a store, and refuses one that is too large, or that unpacks to far more than a day's bookings do:
 * whoever writes the file must not decide how much disk and time is used.
 */
export function createDayFile(store: FileStore, maxBytes: number = mostBytes): DayFile {
  return {
    locate: store.locate,
    measure: store.measure ?? (async () => undefined),
    async *read(day, reading) {
      const path = store.locate(day);
      let done = 0;
      let total = 0;
      async function* arrive() {
        for await (const { bytes, size } of store.read(day, reading)) {
          done += bytes.length;
          total = size;
          yield bytes;
        }
      }
      let unpacked = 0;
      for await (const bytes of unpack(arrive(), { path, ...reading })) {
        unpacked += bytes.length;
        if (Math.max(unpacked, total) > maxBytes) {
          const has = total > maxBytes ? formatBytes(total) : `more than ${formatBytes(maxBytes)}`;
          throw new SourceError(
            'unreadable',
            `${path} has ${has}, and at most ${formatBytes(maxBytes)} are read: is it a day's bookings?`,
          );
        }
        if (unpacked > leastUnpacked && unpacked > done * maxRatio)
          throw new SourceError(
            'unreadable',
            `${path} unpacks to more than ${maxRatio} times its size: it can't be a day's bookings; have it exported again, or unpack it first`,
          );
        yield { bytes, progress: { done, total } };
      }
    },
  };
}

/** The smallest output block size that zlib accepts. */
const leastGunzipBlock = 64;

/**
 * Yields the bytes of a file in blocks of one size, decompressed if they begin with gzip's magic number. The file's name doesn't
 * matter. At the end, `pieces` is closed.
 *
 * @param options.path for messages
 * @throws SourceError `truncated` for damaged gzip data; what `pieces` throws; the signal's reason when it aborts
 */
export async function* unpack(
  pieces: AsyncIterable<Uint8Array>,
  { path, blockBytes, signal }: FileReading & { readonly path: string },
): AsyncGenerator<Buffer, void, undefined> {
  const packed = toFixedBlocks(pieces, Math.max(2, blockBytes));
  try {
    signal.throwIfAborted();
    const { done, value: head } = await packed.next();
    if (done) return;
    const whole = prepend(head, packed);
    const isGzip = head[0] === 0x1f && head[1] === 0x8b;
    const gunzip = () => createGunzip({ chunkSize: Math.max(blockBytes, leastGunzipBlock) });
    // The loop below receives the same error.
    const bytes = isGzip ? pipeline(Readable.from(whole), gunzip(), () => undefined) : whole;
    for await (const block of bytes as AsyncIterable<Buffer>) {
      yield block;
      // The reader stops on its own, but the decompressor may still hold blocks.
      signal.throwIfAborted();
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const code = codeOf(error) ?? '';
    if (!code.startsWith('Z_')) throw error;
    const message = `${path} is a gzip file that is cut off or damaged (${code})`;
    throw new SourceError('truncated', message, { cause: error });
  } finally {
    await packed.return();
  }
}

async function* prepend(
  head: Buffer,
  others: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  yield head;
  yield* others;
}

/**
 * The day's file on this machine.
 *
 * @param path absolute, with `{day}` or `{day:ddMMyyyy}` (any date-fns pattern) as a placeholder for the day
 * @throws RangeError for an invalid path template
 */
export function createLocalDayFile(path: string): DayFile {
  const locate = parsePathTemplate(path);
  return createDayFile({
    locate,
    // A missing file is reported when it is read.
    measure: async (day) => (await stat(locate(day)).catch(() => undefined))?.size,
    read: (day, reading) => readLocalFile(locate(day), reading),
  });
}

async function* readLocalFile(path: string, { blockBytes, signal }: FileReading) {
  let handle: FileHandle | undefined;
  try {
    handle = await openFile(path);
    const { size } = await handle.stat();
    const file = handle.createReadStream({ start: 0, highWaterMark: blockBytes, signal });
    for await (const bytes of file as AsyncIterable<Buffer>) yield { bytes, size };
    if (file.bytesRead !== size)
      throw new SourceError('truncated', `${path} changed while it was read: is it still being written?`);
  } catch (error) {
    throw explainFileError(error, path);
  } finally {
    await handle?.close();
  }
}

/**
 * Only regular files are opened: nothing else can be read twice, and opening a FIFO blocks until it has a writer, which no
 * signal can interrupt.
 */
async function openFile(path: string): Promise<FileHandle> {
  const stats = await stat(path);
  if (!stats.isFile()) throw new SourceError('unreadable', `${path} is ${nameKind(stats)}, expected a file`);
  return open(path);
}

function nameKind(stats: Stats): string {
  if (stats.isDirectory()) return 'a folder';
  if (stats.isFIFO()) return 'a FIFO';
  return stats.isSocket() ? 'a socket' : 'a device';
}

function explainFileError(error: unknown, path: string): unknown {
  const code = codeOf(error);
  if (code === undefined || error instanceof SourceError) return error;
  return code === 'ENOENT' || code === 'ENOTDIR'
    ? new SourceError('missing', `there is no file ${path}`, { cause: error })
    : new SourceError('unreadable', `${path} can't be read (${code})`, { cause: error });
}

/** Where the files are stored, with a placeholder for the day. */
type FileLocation =
  | { readonly kind: 'local'; readonly path: string }
  | { readonly kind: 's3'; readonly bucket: string; readonly key: string }
  | {
      readonly kind: 'sftp';
      readonly host: string;
      readonly port: number;
      /** `/`, or empty for the login folder. */
      readonly root: string;
      /** Below the root. */
      readonly path: string;
    };

const defaultPort = 22;
/** The host is a name, an IPv4 address or a bracketed IPv6 address, without a user and without a placeholder. */
const sftpUrl = /^sftp:\/\/([\w.-]+|\[[\da-f:.]+\])(?::(\d{1,5}))?\/(.+)$/is;

/**
 * Parses the setting `path`: `s3://BUCKET/KEY`, `sftp://HOST[:PORT]/PATH` (relative to the server's root or, after `/~/`,
 * to the login folder), or else a path on this machine. Placeholders stay as written.
 *
 * @throws RangeError for an invalid template, another scheme, or an address with a user, a password or `..`
 */
export function readFileLocation(text: string): FileLocation {
  parsePathTemplate(text);
  const [, scheme] = /^([a-z][a-z\d+.-]*):\/\//i.exec(text) ?? [];
  switch (scheme?.toLowerCase()) {
    case undefined:
      return { kind: 'local', path: text };
    case 's3':
      return readS3(text);
    case 'sftp':
      return readSftp(text);
    default:
      throw new RangeError('expected a path, s3://… or sftp://…, got: another kind of address');
  }
}

function readS3(text: string): FileLocation {
  // A quoted text in a placeholder may hold anything; what it expands to has been checked.
  const location = readS3Location(text);
  if (location === undefined || location.key === '' || text.endsWith('/')) {
    throw new RangeError(
      'expected s3://BUCKET/KEY, the key without empty parts, . or .., got: something else',
    );
  }
  return { kind: 's3', ...location };
}

function readSftp(text: string): FileLocation {
  const [, host = '', port = String(defaultPort), whole = ''] = sftpUrl.exec(text) ?? [];
  const isFromLogin = whole.startsWith('~/');
  const path = isFromLogin ? whole.slice(2) : whole;
  const isPath =
    !/[\\\p{Cc}]/u.test(path) && path.split('/').every((part) => !['', '.', '..'].includes(part));
  if (host === '' || !isPath || Number(port) < 1 || Number(port) > 65_535) {
    throw new RangeError(
      'expected sftp://HOST/PATH or sftp://HOST:PORT/PATH, without a user, a password, empty parts, . or .., got: something else',
    );
  }
  return {
    kind: 'sftp',
    host: host.replace(/^\[|\]$/g, ''),
    port: Number(port),
    root: isFromLogin ? '' : '/',
    path,
  };
}

/** What a formatted day may have between two slashes. A dot at either end could lead to another folder. */
const namePart = /^[\p{L}\p{M}\p{N} _,'-]+(?:\.[\p{L}\p{M}\p{N} _,'-]+)*$/u;

/**
 * Parses a path in which `{day}` stands for the day as YYYY-MM-DD and `{day:PATTERN}` for the day in a date-fns
 * pattern, for example `{day:ddMMyyyy}` or `{day:yyyy/MM}`; `{day+1}` and `{day+1:PATTERN}` for the next day, by which some
 * exports are named.
 *
 * A pattern may quote literal text, but can't lead to another folder (`..`), host or bucket.
 *
 * @throws RangeError for an unknown placeholder, an unmatched brace, or a pattern that date-fns rejects or that produces
 *   anything but letters, digits, spaces, - _ , ' and, inside, dots and slashes
 */
export function parsePathTemplate(template: string): DayTemplate {
  return parseTemplate(template, (placeholder) => {
    const found = `the path ${JSON.stringify(template)} has {${placeholder}}`;
    const write = readDayPlaceholder(placeholder);
    if (write === undefined)
      throw new RangeError(
        `${found}: only {day}, {day+1} and {day:ddMMyyyy} (any date-fns pattern) are known`,
      );
    if (
      !write(anyDay)
        .split('/')
        .every((part) => namePart.test(part))
    )
      throw new RangeError(
        `${found}: a day may be written with letters, digits, spaces and - _ , ' and, except at its ends, with / and dots: nothing that leads elsewhere`,
      );
    return write;
  });
}

/** Whether a path names a different file for each day. @throws RangeError as `parsePathTemplate` does */
export function dependsOnDay(template: string): boolean {
  const write = parsePathTemplate(template);
  return write(anyDay) !== write(anyDay.next());
}
