import { createHash, randomUUID } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { createMeasure, measure, readBlocks } from '../base/content.js';
import { explainNoRoom } from '../base/disk-room.js';
import { isPlainName } from '../base/foreign-text.js';
import type { PeerFault } from '../base/peer-patience.js';
import { codeOf, SafeError } from '../base/safe-error.js';
import { S3Error } from '../transports/s3/bucket.js';
import type { DayKeys } from './day-keys.js';
import { readTextFile, replaceTextFile } from './durable-file.js';
import { openFile, sealFile } from './sealed.js';

/** A folder of a run in the archive. */
export interface RunFolder {
  /** YYYY-MM-DD */
  readonly day: string;
  readonly runId: string;
  /** The account that its mark names, as `hashAccount` wrote it; absent in a folder without a mark. */
  readonly account?: string;
  /** Of its files, sorted. */
  readonly names: readonly string[];
}

/** A file in the archive. */
export interface ArchivedFile {
  readonly name: string;
  readonly bytes: number;
  /** In hexadecimal. */
  readonly sha256: string;
}

/**
 * The evidence of file runs, one folder per run: `<day>/<run>/`. Several accounts may share it: each folder of a
 * run is marked with its account before its first file, and each account has one file that says which ledger it belongs to.
 *
 * Every method throws ArchiveError `unsafe-name` for a day, run or name that is not a plain file name; see expectSafeName.
 */
export interface Archive {
  /** Where the whole archive is, for display. Contains no secrets. */
  readonly path: string;
  /** The account whose archive it is: see `hashAccount`. */
  readonly account: string;
  /** Where a run's evidence is, for display and for `archivedTo`. Contains no secrets. */
  locate(day: string, runId: string): string;
  /**
   * Stores a file under that name atomically: written under a temporary name, synced, then renamed. Storing the same bytes
   * again changes nothing; other bytes under a name in use are refused. Also removes what a killed `store` of that run
   * left. Rethrows what `content` throws; then nothing is stored.
   *
   * @param sha256 what the content must be, in hexadecimal: anything else is not stored
   * @throws ArchiveError `different-content`, `unexpected-content`, `unwritable`
   */
  store(
    day: string,
    runId: string,
    name: string,
    content: AsyncIterable<Uint8Array>,
    sha256?: string,
  ): Promise<ArchivedFile>;
  /**
   * A block is valid until the next one is read.
   *
   * @throws ArchiveError `absent` when there is no such file, `unreadable`; both during iteration
   */
  read(day: string, runId: string, name: string): AsyncIterable<Uint8Array>;
  /** The names of the run's files, sorted; empty when there is no such run. @throws ArchiveError `unreadable` */
  list(day: string, runId: string): Promise<readonly string[]>;
  /**
   * Deletes files, for example after `guestNameDays`, and what a killed `store` left. Missing files are no error.
   *
   * @throws ArchiveError `unwritable`
   */
  remove(day: string, runId: string, names: readonly string[]): Promise<void>;
  /** What `writeLedgerMark` wrote last for this account; undefined if it never did. @throws ArchiveError `unreadable` */
  readLedgerMark(): Promise<string | undefined>;
  /**
   * Replaces the account's mark atomically: the only file of the archive that is ever replaced.
   *
   * @throws ArchiveError `unwritable`
   */
  writeLedgerMark(text: string): Promise<void>;
  /** The folders of runs, of whatever account, by day and run. @throws ArchiveError `unreadable` */
  listFolders(): Promise<readonly RunFolder[]>;
}

/**
 * In place of a day: the pages of days as they were when a run of the day ended, by day, as `RUN-STATE.html`. They name no booking,
 * check-in or guest.
 */
export const reportsFolder = 'reports';

/** What names an account in the archive: nobody reads the account's id from it. */
export function hashAccount(accountId: string): string {
  return createHash('sha256').update(accountId).digest('hex').slice(0, 16);
}

/** The name of the file that says which ledger an account's archive belongs to. */
export function nameLedgerMark(account: string): string {
  return `ledger-of-${account}.json`;
}

const folderMarkPrefix = '.account-';

/** The name of the empty file that marks the folder of a run. It starts with a dot, so it is never listed among the run's files. */
export function nameFolderMark(account: string): string {
  return `${folderMarkPrefix}${account}`;
}

/** Whether a folder of that name, in place of a day, holds runs; reports and exports are no runs. */
export function holdsRuns(day: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(day);
}

/** The folder that holds files with these names. */
export function toRunFolder(day: string, runId: string, all: readonly string[]): RunFolder {
  const mark = all.find((name) => name.startsWith(folderMarkPrefix));
  return {
    ...{ day, runId },
    ...(mark !== undefined && { account: mark.slice(folderMarkPrefix.length) }),
    names: withoutHidden(all),
  };
}

/** Files that are being written, and marks, start with a dot, which archived files never do. */
export function withoutHidden(names: readonly string[]): readonly string[] {
  return names.filter((name) => name !== '' && !name.startsWith('.')).toSorted();
}

export type ArchiveErrorCode =
  | 'absent'
  | 'different-content'
  | 'unexpected-content'
  | 'unsafe-name'
  | 'unreadable'
  | 'unwritable';

/** The message names the file and the reason, never content. */
export class ArchiveError extends SafeError {
  override readonly name = 'ArchiveError';
  /** What is wrong with its server, if it has one. */
  readonly peer: PeerFault | undefined;
  constructor(
    readonly code: ArchiveErrorCode,
    message: string,
    { peer, ...options }: { cause?: unknown; peer?: PeerFault | undefined } = {},
  ) {
    super(message, options);
    this.peer = peer;
  }
}

/** @throws ArchiveError `unexpected-content` if the checksum is not the expected one */
export function expectContent(path: string, found: string, expected: string | undefined): void {
  if (expected === undefined || found === expected) return;
  throw new ArchiveError('unexpected-content', `${path} is not kept: its checksum is not the expected one`);
}

/** @throws ArchiveError `different-content` if other bytes are stored under that name */
export function expectSame(path: string, sha256: string, stored: string): void {
  if (sha256 === stored) return;
  throw new ArchiveError('different-content', `${path} is already in the archive, with different bytes`);
}

/** In bytes of UTF-8; file systems allow 255. */
const longestName = 200;

/**
 * Returns the name if it is a plain file name and not too long. Names come from other people's servers.
 *
 * @throws ArchiveError `unsafe-name`
 */
export function expectSafeName(name: string): string {
  if (isPlainName(name) && Buffer.byteLength(name) <= longestName) return name;
  throw new ArchiveError('unsafe-name', `the archive cannot use the name ${describe(name)}`);
}

function describe(name: string): string {
  return JSON.stringify(name.length > longestName ? `${name.slice(0, longestName)}…` : name);
}

/** Runs tasks with the same key one after the other, and those with different keys concurrently. */
export function createKeyedMutex() {
  /** For each key the end of the last task; it never rejects. */
  const last = new Map<string, Promise<unknown>>();
  return async function run<Result>(key: string, task: () => Promise<Result>): Promise<Result> {
    const result = (last.get(key) ?? Promise.resolve()).then(task);
    const ended = result.catch(() => {});
    last.set(key, ended);
    try {
      return await result;
    } finally {
      if (last.get(key) === ended) last.delete(key);
    }
  };
}

/** Temporary names start with a dot, which archived files never do. */
const temporarySuffix = '.partial';

/**
 * An archive in a directory: `<root>/<day>/<run>/<name>`, files with mode 0600 in folders with mode 0700.
 *
 * Two processes must not store files for one run at the same time (the ledger's claims ensure that): the later one would
 * remove the earlier one's temporary file as a leftover, and the earlier `store` would fail, with nothing stored.
 */
export function createDirectoryArchive({
  root,
  account,
}: {
  readonly root: string;
  readonly account: string;
}): Archive {
  const home = resolve(root);
  const ledgerMark = join(home, nameLedgerMark(account));
  const runAlone = createKeyedMutex();

  function locate(day: string, runId: string): string {
    return join(home, expectSafeName(day), expectSafeName(runId));
  }

  function locateFile(day: string, runId: string, name: string): string {
    return join(locate(day, runId), expectSafeName(name));
  }

  return {
    path: home,
    account,
    locate,
    async store(day, runId, name, content, sha256) {
      const folder = locate(day, runId);
      const path = locateFile(day, runId, name);
      const measured = createMeasure();
      await runAlone(folder, async () => {
        await makeFolder(folder);
        await removeLeftovers(folder);
        if (holdsRuns(day)) await markFolder(join(folder, nameFolderMark(account)));
        const temporary = join(folder, `.${randomUUID()}${temporarySuffix}`);
        try {
          await writeNew(temporary, path, measured.pass(content));
          const written = measured.result().sha256;
          expectContent(path, written, sha256);
          if ((await listFiles(folder)).includes(name))
            expectSame(path, written, (await measure(readFile(path))).sha256);
          else await rename(temporary, path).catch(explain('unwritable', path));
          await sync(folder);
        } finally {
          // If this fails, the next store or remove cleans up.
          await rm(temporary, { force: true }).catch(() => {});
        }
      });
      return { name, ...measured.result() };
    },
    async *read(day, runId, name) {
      yield* readFile(locateFile(day, runId, name));
    },
    async list(day, runId) {
      return withoutHidden(await listFiles(locate(day, runId)));
    },
    async remove(day, runId, names) {
      const folder = locate(day, runId);
      const paths = names.map((name) => locateFile(day, runId, name));
      await runAlone(folder, async () => {
        for (const path of paths) await rm(path, { force: true }).catch(explain('unwritable', path));
        await removeLeftovers(folder);
      });
    },
    async readLedgerMark() {
      try {
        return readTextFile(ledgerMark);
      } catch (error) {
        throw explained(error, 'unreadable', ledgerMark);
      }
    },
    async writeLedgerMark(text) {
      await makeFolder(home);
      try {
        replaceTextFile(ledgerMark, text);
      } catch (error) {
        throw explained(error, 'unwritable', ledgerMark);
      }
    },
    async listFolders() {
      const folders: RunFolder[] = [];
      for (const day of (await listNames(home, (entry) => entry.isDirectory())).filter(holdsRuns))
        for (const runId of await listNames(join(home, day), (entry) => entry.isDirectory()))
          folders.push(toRunFolder(day, runId, await listFiles(join(home, day, runId))));
      return folders;
    },
  };
}

/** Before the folder's first file, so that no file is ever without an owner. */
async function markFolder(path: string): Promise<void> {
  try {
    await (await open(path, 'wx', 0o600)).close();
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw explained(error, 'unwritable', path);
  }
}

export async function* toBlocks(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
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

function listFiles(folder: string): Promise<string[]> {
  return listNames(folder, (entry) => entry.isFile());
}

/** Sorted; none if there is no such folder. */
async function listNames(folder: string, isWanted: (entry: Dirent) => boolean): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries
      .filter(isWanted)
      .map(({ name }) => name)
      .sort();
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

/** For `catch`: turns an error of the server or of this machine into an ArchiveError. */
export function explain(code: 'unreadable' | 'unwritable', path: string): (error: unknown) => never {
  return (error) => {
    throw explained(error, code, path);
  };
}

export function explained(error: unknown, code: 'unreadable' | 'unwritable', path: string): unknown {
  const reason = reasonOf(error, path);
  if (error instanceof ArchiveError || reason === undefined) return error;
  const { fault, peer } = error instanceof S3Error ? error : {};
  if (code === 'unreadable' && (fault === 'missing' || codeOf(error) === 'ENOENT'))
    return new ArchiveError('absent', `there is no ${path} in the archive`, { cause: error });
  const verb = code === 'unreadable' ? 'read' : 'written';
  return new ArchiveError(code, `${path} can't be ${verb} in the archive${reason}`, { cause: error, peer });
}

function reasonOf(error: unknown, path: string): string | undefined {
  if (error instanceof S3Error) return `: ${error.why}`;
  const code = codeOf(error);
  const room = explainNoRoom(error, path);
  return code && ` (${room === undefined ? code : `${code}: the disk ${room}`})`;
}

/**
 * An archive whose files are encrypted under the keys of their days. Sizes and checksums are those of the content. Files
 * that were stored unencrypted before stay readable.
 *
 * @param encrypts false for a file that is kept longer than its day's key
 */
export function encryptArchive(
  archive: Archive,
  keys: DayKeys,
  encrypts: (day: string, name: string) => boolean,
): Archive {
  const read: Archive['read'] = (day, runId, name) =>
    openFile(keys, archive.read(day, runId, name), contextOf(day, runId, name));
  return {
    ...archive,
    read,
    async store(day, runId, name, content, sha256) {
      if (!encrypts(day, name)) return archive.store(day, runId, name, content, sha256);
      const path = `${archive.locate(day, runId)}/${name}`;
      const plain = createMeasure();
      async function* expected(): AsyncGenerator<Uint8Array, void, undefined> {
        yield* plain.pass(content);
        expectContent(path, plain.result().sha256, sha256);
      }
      if ((await archive.list(day, runId)).includes(name)) {
        // Compares the content: encrypting it again would give other bytes.
        for await (const _ of expected());
        const stored = await measure(read(day, runId, name));
        expectSame(path, plain.result().sha256, stored.sha256);
      } else {
        await archive.store(day, runId, name, sealFile(keys, day, expected(), contextOf(day, runId, name)));
      }
      return { name, ...plain.result() };
    },
  };
}

function contextOf(day: string, runId: string, name: string): string {
  return `${day}/${runId}/${name}`;
}
