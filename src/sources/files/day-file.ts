import type { Stats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { formatBytes } from '../../base/format.js';
import { codeOf } from '../../base/safe-error.js';
import { type BusinessDay, createBusinessDay, isDayPattern } from '../../booking/business-day.js';
import { SourceError } from '../../booking/source.js';
import { readS3Location } from '../../transports/s3/bucket.js';

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

/**
 * The day's file on this machine.
 *
 * @param path absolute, with `{day}` or `{day:ddMMyyyy}` (any date-fns pattern) as a placeholder for the day
 * @throws RangeError for an invalid path template
 */
export function createLocalDayFile(path: string): DayFile {
  const locate = parsePathTemplate(path);
  return {
    locate,
    measure: (day) => measureLocalFile(locate(day)),
    read: (day, reading) => readLocalFile(locate(day), reading),
  };
}

/**
 * Streams a file's bytes, decompressed if it is gzip. Only regular files are opened: nothing else can be read twice, and
 * opening a FIFO blocks until it has a writer, which no signal can interrupt.
 *
 * @throws SourceError `missing`, `unreadable`, or `truncated` for damaged gzip data and for a file that changed while it
 *   was read; the signal's reason when it aborts
 */
async function* readLocalFile(
  path: string,
  { blockBytes, signal }: FileReading,
): AsyncGenerator<FileBlock, void, undefined> {
  signal.throwIfAborted();
  const handle = await openFile(path).catch((error: unknown) => {
    throw explainFileError(error, path);
  });
  try {
    const { size } = await handle.stat();
    const file = handle.createReadStream({ start: 0, highWaterMark: blockBytes, signal });
    const progress = () => ({ done: file.bytesRead, total: size });
    yield* unpackBlocks(file as AsyncIterable<Buffer>, { path, blockBytes, signal, progress });
    if (file.bytesRead !== size) {
      throw new SourceError('truncated', `${path} changed while it was read: is it still being written?`);
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw explainFileError(error, path);
  } finally {
    await handle.close();
  }
}

async function measureLocalFile(path: string): Promise<number | undefined> {
  // A missing file is reported when it is read.
  const stats = await stat(path).catch(() => undefined);
  return stats?.size;
}

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
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return new SourceError('missing', `there is no file ${path}`, { cause: error });
  }
  return new SourceError('unreadable', `${path} can't be read (${code})`, { cause: error });
}

/** The smallest output block size that zlib accepts. */
const leastGunzipBlock = 64;

interface Unpacking extends FileReading {
  /** For messages. */
  readonly path: string;
  readonly progress: () => FileBlock['progress'];
}

/**
 * Yields the bytes of a file, decompressed if they begin with gzip's magic number. The file's name doesn't matter.
 *
 * @throws SourceError `truncated` for damaged gzip data; what `packed` throws; the signal's reason when it aborts
 */
export async function* unpackBlocks(
  packed: AsyncIterable<Buffer>,
  { path, blockBytes, signal, progress }: Unpacking,
): AsyncGenerator<FileBlock, void, undefined> {
  const arriving = packed[Symbol.asyncIterator]();
  try {
    const head = await readHead(arriving);
    const whole = resume(head, arriving);
    const bytes = isGzip(head)
      ? pipeline(
          Readable.from(whole),
          createGunzip({ chunkSize: Math.max(blockBytes, leastGunzipBlock) }),
          () => {
            // The loop below receives the same error.
          },
        )
      : whole;
    for await (const block of bytes as AsyncIterable<Buffer>) {
      yield { bytes: block, progress: progress() };
      // The reader stops on its own, but the decompressor may still hold blocks.
      signal.throwIfAborted();
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw explainGzip(error, path);
  } finally {
    await arriving.return?.();
  }
}

/** Reads enough blocks for gzip's two magic bytes; fewer if the file is shorter. */
async function readHead(arriving: AsyncIterator<Buffer>): Promise<readonly Buffer[]> {
  const blocks: Buffer[] = [];
  for (let length = 0; length < 2; ) {
    const { done, value } = await arriving.next();
    if (done === true) break;
    blocks.push(value);
    length += value.length;
  }
  return blocks;
}

function isGzip(head: readonly Buffer[]): boolean {
  const [first, second] = Buffer.concat(head);
  return first === 0x1f && second === 0x8b;
}

async function* resume(
  head: readonly Buffer[],
  arriving: AsyncIterator<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  yield* head;
  for (;;) {
    const { done, value } = await arriving.next();
    if (done === true) return;
    yield value;
  }
}

function explainGzip(error: unknown, path: string): unknown {
  const code = codeOf(error) ?? '';
  return code.startsWith('Z_')
    ? new SourceError('truncated', `${path} is a gzip file that is cut off or damaged (${code})`, {
        cause: error,
      })
    : error;
}

/** The text of a real day becomes about a tenth, repeated lines a fiftieth. */
const maxRatio = 200;
/** Below this size, the ratio says nothing: a day of a hundred equal bookings unpacks to many times its size. */
const leastUnpacked = 100_000_000;

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
        if (bytes > leastUnpacked && bytes > done * maxRatio) {
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

/** Where the files are stored, with a placeholder for the day. */
export type FileLocation =
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

/** Returns the path for a day. */
export type PathTemplate = (day: BusinessDay) => string;

/** What a formatted day may have between two slashes. A dot at either end could lead to another folder. */
const namePart = /^[\p{L}\p{M}\p{N} _,'-]+(?:\.[\p{L}\p{M}\p{N} _,'-]+)*$/u;
const anyDay = createBusinessDay('2000-01-01', 'UTC');

/** Text outside braces, a pair of braces, or an unmatched brace. */
const templatePart = /\{([^{}]*)\}|[^{}]+|[{}]/g;

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
export function parsePathTemplate(template: string): PathTemplate {
  const parts = Array.from(template.matchAll(templatePart), ([part, placeholder]) =>
    placeholder === undefined ? readText(part, template) : readPlaceholder(placeholder, template),
  );
  return (day) => parts.map((write) => write(day)).join('');
}

/** Whether a path names a different file for each day. @throws RangeError as `parsePathTemplate` does */
export function dependsOnDay(template: string): boolean {
  const write = parsePathTemplate(template);
  return write(anyDay) !== write(anyDay.next());
}

function readText(text: string, template: string): PathTemplate {
  if (text === '{' || text === '}') {
    throw new RangeError(`the path ${JSON.stringify(template)} has an unmatched brace`);
  }
  return () => text;
}

function readPlaceholder(placeholder: string, template: string): PathTemplate {
  const found = /^day(\+1)?(?::(.*))?$/s.exec(placeholder);
  if (found === null) {
    throw new RangeError(
      `the path ${JSON.stringify(template)} has {${placeholder}}: only {day}, {day+1} and {day:ddMMyyyy} (any date-fns pattern) are known`,
    );
  }
  const [, next, pattern = 'yyyy-MM-dd'] = found;
  if (!isDayPattern(pattern)) {
    throw new RangeError(
      `the path ${JSON.stringify(template)} has {${placeholder}}: ${JSON.stringify(pattern)} is not a date-fns pattern of a day (such as ddMMyyyy)`,
    );
  }
  if (
    !anyDay
      .format(pattern)
      .split('/')
      .every((part) => namePart.test(part))
  ) {
    throw new RangeError(
      `the path ${JSON.stringify(template)} has {${placeholder}}: a day may be written with letters, digits, spaces and - _ , ' and, except at its ends, with / and dots: nothing that leads elsewhere`,
    );
  }
  return (day) => (next === undefined ? day : day.next()).format(pattern);
}
