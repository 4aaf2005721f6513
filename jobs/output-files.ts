import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { type FileHandle, link, lstat, mkdir, open, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createMeasure } from '../src/base/content.js';
import { byteOrderMark, renderRecords } from '../src/base/csv-cells.js';
import { codeOf, UsageError } from '../src/base/safe-error.js';
import type { CsvOptions } from './command.js';

/** The part of a command's terminal and process that writing a file needs. */
interface Surroundings {
  /** Aborts when the process is asked to stop. */
  readonly signal: AbortSignal;
  /** `halted` aborts right before the process ends at once. */
  readonly io: { readonly halted: AbortSignal };
  /** Makes a path of the command line absolute. */
  readonly locate: (path: string) => string;
}

type Add<Content> = (content: Content) => Promise<void>;

/**
 * Writes a file that was named on the command line; only its owner can read it. It appears under its name when it is complete,
 * or not at all: a failure, or a stop of the process, leaves nothing behind.
 *
 * @param output the option that named it, for messages; its name as it was typed; `force` replaces an existing file, and is undefined
 *   where nothing can ask for that
 * @param fill adds the content, piece by piece, or writes it to the path of the draft
 * @returns what `fill` returns
 * @throws UsageError when it exists, unless it may be replaced, and when it can't be created; the reason of a stop
 */
export async function writeNamedFile<Result>(
  { option, name, force }: { readonly option: string; readonly name: string; readonly force?: boolean },
  { signal, io: { halted }, locate }: Surroundings,
  fill: (add: Add<string | Uint8Array>, draft: string) => Promise<Result>,
): Promise<Result> {
  let isOpen = false;
  const write = async (file: FileHandle, draft: string) => {
    isOpen = true;
    const add = async (content: string | Uint8Array) => {
      signal.throwIfAborted();
      await file.writeFile(content);
    };
    const result = await fill(add, draft);
    signal.throwIfAborted();
    return result;
  };
  try {
    return await writeWhole(locate(name), write, { force: force === true, halted });
  } catch (error) {
    const code = codeOf(error) ?? 'unknown';
    if (code === 'EEXIST') throw new UsageError(`${option}: ${name} ${describeTaken(force)}`);
    throw isOpen ? error : new UsageError(`${option}: ${name} can't be written (${code})`);
  }
}

function describeTaken(force: boolean | undefined): string {
  if (force === undefined) return 'exists already, and is not replaced; name a new file';
  return force
    ? 'is no regular file, and is not replaced; name a new file'
    : 'exists already; name a new file, or add --force to replace it';
}

/**
 * Writes a file that others read meanwhile: they find either the old one or the new one, complete. It holds no guest data
 * and is readable by everybody.
 *
 * @throws the system's error
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  const write = async (file: FileHandle) => {
    await file.writeFile(text);
    // Despite the umask, because other accounts read it.
    await file.chmod(0o644);
  };
  await writeWhole(path, write, { force: true });
}

/**
 * Writes a file beside its place, flushes it to disk, and moves it there.
 *
 * @param how `force` replaces an existing file; `halted` aborts right before the process ends at once
 * @throws the system's error: EEXIST if something is there that is not to be replaced; and whatever `write` throws
 */
export async function writeWhole<Result>(
  path: string,
  write: (file: FileHandle, draft: string) => Promise<Result>,
  { force, halted }: { readonly force: boolean; readonly halted?: AbortSignal | undefined },
): Promise<Result> {
  await refuseTaken(path, force);
  const draft = `${path}.${randomUUID()}.part`;
  const discard = () => rmSync(draft, { force: true });
  halted?.addEventListener('abort', discard, { once: true });
  try {
    const file = await open(draft, 'wx', 0o600);
    let result: Result;
    try {
      result = await write(file, draft);
      await file.sync();
    } finally {
      await file.close();
    }
    await (force ? rename(draft, path) : publish(draft, path));
    return result;
  } finally {
    halted?.removeEventListener('abort', discard);
    discard();
  }
}

/** Replacing a device, such as /dev/null, would break the machine; a link belongs to somebody. */
async function refuseTaken(path: string, force: boolean): Promise<void> {
  const found = await lstat(path).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (found && !(force && found.isFile()))
    throw Object.assign(new Error('the name is taken'), { code: 'EEXIST', syscall: 'open' });
}

/** Links, because renaming would replace a file that somebody has put there meanwhile. */
async function publish(draft: string, path: string): Promise<void> {
  try {
    await link(draft, path);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw error;
    // Not every file system has links.
    await refuseTaken(path, false);
    await rename(draft, path);
  }
}

/**
 * Writes a CSV file for people, with these columns, if one was named with `--csv`: see `writeNamedFile`. Excel expects the list
 * separator of the computer's region, which may be a semicolon.
 *
 * @param fill adds the records, some at a time
 */
export async function writeCsvFile(
  columns: readonly string[],
  { csv, delimiter = ',', force }: CsvOptions,
  surroundings: Surroundings,
  fill: (add: Add<readonly object[]>) => Promise<void>,
): Promise<void> {
  if (csv === undefined) return;
  await writeNamedFile({ option: '--csv', name: csv, force }, surroundings, async (add) => {
    await add(byteOrderMark + renderRecords([[...columns]], { delimiter }));
    await fill((records) => add(renderRecords(records, { columns: [...columns], delimiter })));
  });
}

/** A full or broken disk is not a usage error. */
const diskFaults: readonly unknown[] = ['ENOSPC', 'EDQUOT', 'EIO'];
const denials: readonly unknown[] = ['EACCES', 'EPERM', 'EROFS'];

type Content = Uint8Array | AsyncIterable<Uint8Array>;

/**
 * A folder for what a dry run would send, with a SHA256SUMS that `sha256sum -c` understands. It contains guest names, on
 * request: files have mode 0600, none appears before it is complete, and no existing file is overwritten.
 *
 * @param name as it was typed, for messages
 * @param halted aborts right before the process ends at once
 * @throws UsageError when the folder can't be created or written to, or already has such files
 */
export async function createOutFolder(name: string, folder = name, halted?: AbortSignal) {
  const sums: string[] = [];
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    throw diskFaults.includes(error.code) ? error : refusalOf(name, error);
  });

  async function write(file: string, content: Content | string): Promise<void> {
    try {
      await writeWhole(join(folder, file), (handle) => writeFile(handle, content), { force: false, halted });
    } catch (error) {
      if (!(error instanceof Error && 'code' in error)) throw error;
      if (denials.includes(error.code)) throw refusalOf(name, error);
      if (error.code !== 'EEXIST') throw error;
      throw new UsageError(`--out: ${join(name, file)} exists already; name an empty folder`);
    }
  }

  return {
    async add(file: string, content: Content): Promise<void> {
      const measured = createMeasure();
      await write(file, measured.pass(content instanceof Uint8Array ? [content] : content));
      sums.push(`${measured.result().sha256}  ${file}\n`);
    },
    finish: () => write('SHA256SUMS', sums.join('')),
  };
}

export type OutFolder = Awaited<ReturnType<typeof createOutFolder>>;

function refusalOf(name: string, { message }: Error): UsageError {
  return new UsageError(
    `--out ${name}: expected a folder that can be created and written to, got: ${message}; name another`,
  );
}
