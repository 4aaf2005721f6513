import { createHash, type Hash, randomUUID } from 'node:crypto';
import { chmod, type FileHandle, lstat, mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '../review/refusals.js';
import { byteOrderMark, renderRecords } from '../text/csv.js';
import { codeOf } from '../text/safe-error.js';

/**
 * Creates a file that was named on the command line. An existing file is not overwritten.
 *
 * @param option the option that named it, for messages: `--csv`
 * @param name as it was typed, for messages
 * @param path its absolute path
 * @throws UsageError when it can't be created
 */
export async function createNewFile(option: string, name: string, path = name): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o600);
  } catch (error) {
    const code = codeOf(error) ?? 'unknown';
    throw new UsageError(
      code === 'EEXIST'
        ? `${option}: ${name} exists already; name a new file`
        : `${option}: ${name} can't be written (${code})`,
    );
  }
}

/**
 * Writes a file that others read meanwhile: they find either the old one or the new one, complete. It holds no guest data
 * and is readable by everybody.
 *
 * @throws the system's error
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  const found = await lstat(path).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  // Replacing a device, such as /dev/null, would break the machine.
  if (found && !found.isFile()) throw Object.assign(new Error('expected a regular file'), { code: 'EEXIST' });
  const draft = `${path}.${randomUUID()}.part`;
  try {
    await writeFile(draft, text, { flag: 'wx', flush: true });
    // Despite the umask, because other accounts read it.
    await chmod(draft, 0o644);
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}

/**
 * Creates a CSV file for people that was named with `--csv`, with these columns.
 *
 * @param delimiter one character; Excel expects the list separator of the computer's region, which may be a semicolon
 * @throws UsageError when it can't be created
 */
export async function createCsvFile(
  columns: readonly string[],
  name: string,
  path = name,
  delimiter: string | undefined = ',',
) {
  const file = await createNewFile('--csv', name, path);
  await file.writeFile(byteOrderMark + renderRecords([[...columns]], { delimiter }));
  return {
    add: (records: readonly object[]): Promise<void> =>
      file.writeFile(renderRecords(records, { columns: [...columns], delimiter })),
    finish: (): Promise<void> => file.close(),
  };
}

/** Writes all records at once to a new CSV file: see `createCsvFile`. */
export async function writeCsvFile(
  records: readonly object[],
  ...target: Parameters<typeof createCsvFile>
): Promise<void> {
  const file = await createCsvFile(...target);
  await file.add(records);
  await file.finish();
}

/** A full or broken disk is not a usage error. */
const diskFaults: readonly unknown[] = ['ENOSPC', 'EDQUOT', 'EIO'];
const denials: readonly unknown[] = ['EACCES', 'EPERM', 'EROFS'];

type Content = Uint8Array | AsyncIterable<Uint8Array>;

/**
 * A folder for what a dry run would send, with a SHA256SUMS that `sha256sum -c` understands. It contains guest names, on
 * request: files have mode 0600, and no existing file is overwritten.
 *
 * @param name as it was typed, for messages
 * @throws UsageError when the folder can't be created or written to, or already has such files
 */
export async function createOutFolder(name: string, folder = name) {
  const sums: string[] = [];
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    throw diskFaults.includes(error.code) ? error : refusalOf(name, error);
  });

  async function write(file: string, content: Content | string): Promise<void> {
    try {
      await writeFile(join(folder, file), content, { mode: 0o600, flag: 'wx' });
    } catch (error) {
      if (!(error instanceof Error && 'code' in error)) throw error;
      if (denials.includes(error.code)) throw refusalOf(name, error);
      if (error.code !== 'EEXIST') throw error;
      throw new UsageError(`--out: ${join(name, file)} exists already; name an empty folder`);
    }
  }

  return {
    async add(file: string, content: Content): Promise<void> {
      const hash = createHash('sha256');
      await write(file, content instanceof Uint8Array ? content : passThrough(content, hash));
      if (content instanceof Uint8Array) hash.update(content);
      sums.push(`${hash.digest('hex')}  ${file}\n`);
    },
    finish: () => write('SHA256SUMS', sums.join('')),
  };
}

export type OutFolder = Awaited<ReturnType<typeof createOutFolder>>;

async function* passThrough(content: AsyncIterable<Uint8Array>, hash: Hash): AsyncGenerator<Uint8Array> {
  for await (const block of content) {
    hash.update(block);
    yield block;
  }
}

function refusalOf(name: string, { message }: Error): UsageError {
  return new UsageError(
    `--out ${name}: expected a folder that can be created and written to, got: ${message}; name another`,
  );
}
