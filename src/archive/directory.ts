import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { createMeasure, measure, readBlocks } from '../async/content.js';
import {
  ArchiveError,
  createKeyedMutex,
  expectContent,
  expectSafeName,
  type StoringArchive,
} from './archive.js';

/** Temporary names start with a dot, which kept files never do. */
const temporarySuffix = '.partial';

/**
 * An archive in a directory: `<root>/<day>/<run>/<name>`, files with mode 0600 in folders with mode 0700.
 *
 * Two processes must not keep files for one run at the same time (the ledger's claims ensure that): the later one would
 * remove the earlier one's temporary file as a leftover, and the earlier `keep` would fail, with nothing kept.
 */
export function createDirectoryArchive({ root }: { readonly root: string }): StoringArchive {
  const home = resolve(root);
  const runAlone = createKeyedMutex();

  function locate(day: string, runId: string): string {
    return join(home, expectSafeName(day), expectSafeName(runId));
  }

  function locateFile(day: string, runId: string, name: string): string {
    return join(locate(day, runId), expectSafeName(name));
  }

  /** @param mayTakePlace called once everything is written; false leaves the file out */
  async function store(
    [day, runId, name]: readonly [day: string, runId: string, name: string],
    content: AsyncIterable<Uint8Array>,
    mayTakePlace: (path: string) => Promise<boolean>,
  ): Promise<void> {
    const folder = locate(day, runId);
    const path = locateFile(day, runId, name);
    await runAlone(folder, async () => {
      await makeFolder(folder);
      await removeLeftovers(folder);
      const temporary = join(folder, `.${randomUUID()}${temporarySuffix}`);
      try {
        await writeNew(temporary, path, content);
        if (await mayTakePlace(path)) await rename(temporary, path).catch(explain('unwritable', path));
        await sync(folder);
      } finally {
        // If this fails, the next keep or remove cleans up.
        await rm(temporary, { force: true }).catch(() => {});
      }
    });
  }

  return {
    locate,
    async keep(day, runId, name, content, sha256) {
      const measured = createMeasure();
      await store([day, runId, name], measured.pass(content), async (path) => {
        const written = measured.result().sha256;
        expectContent(path, written, sha256);
        const kept = await hashIfThere(path);
        if (kept === undefined || kept === written) return kept === undefined;
        throw isTaken(path);
      });
      return { name, ...measured.result() };
    },
    add: (day, runId, name, content) =>
      store([day, runId, name], content, async (path) => {
        if ((await listFiles(dirname(path))).includes(name)) throw isTaken(path);
        return true;
      }),
    async *read(day, runId, name) {
      yield* readFile(locateFile(day, runId, name));
    },
    async list(day, runId) {
      const names = await listFiles(locate(day, runId));
      return names.filter((name) => !name.startsWith('.')).sort();
    },
    async remove(day, runId, names) {
      const folder = locate(day, runId);
      const paths = names.map((name) => locateFile(day, runId, name));
      await runAlone(folder, async () => {
        for (const path of paths) await rm(path, { force: true }).catch(explain('unwritable', path));
        await removeLeftovers(folder);
      });
    },
  };
}

async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 }).catch(explain('unwritable', folder));
  if (first === undefined) return;
  // A new folder is durable once its parent is synced.
  for (let made = folder; made.length >= first.length; made = dirname(made)) await sync(dirname(made));
}

async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await listFiles(folder)) {
    const path = join(folder, name);
    if (name.startsWith('.') && name.endsWith(temporarySuffix))
      await rm(path, { force: true }).catch(explain('unwritable', path));
  }
}

async function listFiles(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw explained(error, 'unreadable', folder);
  }
}

/** @param path the final path, for messages */
async function writeNew(temporary: string, path: string, content: AsyncIterable<Uint8Array>): Promise<void> {
  const file = await open(temporary, 'wx', 0o600).catch(explain('unwritable', path));
  try {
    for await (const block of content) await file.writeFile(block).catch(explain('unwritable', path));
    await file.sync().catch(explain('unwritable', path));
  } finally {
    await file.close();
  }
}

function isTaken(path: string): ArchiveError {
  return new ArchiveError('different-content', `${path} is already in the archive, with different bytes`);
}

async function hashIfThere(path: string): Promise<string | undefined> {
  try {
    return (await measure(readFile(path))).sha256;
  } catch (error) {
    if (error instanceof ArchiveError && error.code === 'absent') return undefined;
    throw error;
  }
}

async function* readFile(path: string): AsyncGenerator<Buffer, void, undefined> {
  const file = await open(path).catch(explain('unreadable', path));
  try {
    yield* readBlocks((buffer) => file.read({ buffer }).catch(explain('unreadable', path)));
  } finally {
    await file.close();
  }
}

async function sync(folder: string): Promise<void> {
  const handle = await open(folder).catch(explain('unwritable', folder));
  try {
    await handle.sync().catch(explain('unwritable', folder));
  } finally {
    await handle.close();
  }
}

/** For `catch`: turns a system error into an ArchiveError. */
function explain(code: 'unreadable' | 'unwritable', path: string): (error: unknown) => never {
  return (error) => {
    throw explained(error, code, path);
  };
}

function explained(error: unknown, code: 'unreadable' | 'unwritable', path: string): ArchiveError {
  const reason = codeOf(error);
  if (code === 'unreadable' && reason === 'ENOENT')
    return new ArchiveError('absent', `there is no ${path} in the archive`, { cause: error });
  const verb = code === 'unreadable' ? 'read' : 'written';
  return new ArchiveError(code, `${path} can't be ${verb} in the archive (${reason})`, { cause: error });
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown';
}
