import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { blockBytes, createMeasure } from '../base/content.js';
import { type S3Bucket, S3Error, type S3Location, showS3Location } from '../transports/s3/bucket.js';
import {
  type Archive,
  type ArchivedFile,
  ArchiveError,
  createKeyedMutex,
  expectContent,
  expectSafeName,
  expectSame,
  toBlocks,
} from './archive.js';
import { holdsRuns, nameFolderMark, nameLedgerMark, toRunFolder, withoutHidden } from './archive-marks.js';

/** The object's metadata that holds its checksum, in hexadecimal. */
const checksumName = 'sha256';

export interface S3ArchiveOptions {
  /** Its key is the prefix of all objects' keys, without a trailing slash. */
  readonly root: S3Location;
  readonly account: string;
  /** Opens the bucket on first use. */
  readonly open: () => Promise<S3Bucket>;
  /** A local folder that holds content, in an unnamed file, until its checksum is known. Created if missing. */
  readonly temporaryFolder: string;
}

interface NewObject {
  readonly folder: string;
  readonly key: string;
  readonly expected: string | undefined;
  /** Marks the folder. */
  readonly mark: () => Promise<void>;
}

/**
 * An archive in a bucket: each file is an object `<root>/<day>/<run>/<name>` with its SHA-256 as metadata.
 *
 * Two processes must not store files for one run at the same time (the ledger's claims ensure that): on a server without
 * conditional writes the later content would replace the earlier one.
 */
export function createS3Archive({ root, account, open, temporaryFolder }: S3ArchiveOptions): Archive {
  const runAlone = createKeyedMutex();
  const home = root.key === '' ? '' : `${root.key}/`;
  const ledgerMark = `${home}${nameLedgerMark(account)}`;
  /** The folders that this process has marked. */
  const marked = new Set<string>();

  const writePrefix = (day: string, runId: string) =>
    `${home}${expectSafeName(day)}/${expectSafeName(runId)}`;

  const showKey = (key: string) => showS3Location({ bucket: root.bucket, key });
  const locate: Archive['locate'] = (day, runId) => showKey(writePrefix(day, runId));
  const locateObject = (day: string, runId: string, name: string) =>
    `${writePrefix(day, runId)}/${expectSafeName(name)}`;

  /** The checksum of the object under that key; undefined if there is none. */
  async function findChecksum(bucket: S3Bucket, key: string): Promise<string | undefined> {
    const found = await bucket.find(key);
    if (found === undefined) return undefined;
    const recorded = found[checksumName];
    if (recorded !== undefined) return recorded;
    const hash = createHash('sha256');
    for await (const { bytes } of bucket.read(key)) hash.update(bytes);
    return hash.digest('hex');
  }

  async function storeObject(
    { folder, key, expected, mark }: NewObject,
    content: AsyncIterable<Uint8Array>,
  ): Promise<Omit<ArchivedFile, 'name'>> {
    const buffered = await createUnnamedFile(temporaryFolder).catch(explain('unwritable', showKey(key)));
    try {
      const { bytes, sha256 } = await buffered.fill(content, explain('unwritable', showKey(key)));
      expectContent(showKey(key), sha256, expected);
      const bucket = await open();
      await bucket.abandonUploads(`${folder}/`).catch(explain('unwritable', showKey(key)));
      const isStored = async () => {
        const stored = await findChecksum(bucket, key).catch(explain('unreadable', showKey(key)));
        if (stored !== undefined) expectSame(showKey(key), sha256, stored);
        return stored !== undefined;
      };
      if (await isStored()) return { bytes, sha256 };
      await mark();
      const put = await bucket
        .put(key, { open: buffered.read, bytes, metadata: { [checksumName]: sha256 } })
        .catch(explain('unwritable', showKey(key)));
      if (put === 'taken' && !(await isStored())) {
        throw new ArchiveError('unwritable', `${showKey(key)} is being written by another process`);
      }
      return { bytes, sha256 };
    } finally {
      await buffered.close();
    }
  }

  /** Before the folder's first object, so that none is ever without an owner. */
  async function markFolder(folder: string): Promise<void> {
    if (marked.has(folder)) return;
    const key = `${folder}/${nameFolderMark(account)}`;
    const bucket = await open();
    await bucket
      .put(key, { open: () => toBlocks(''), bytes: 0, metadata: {} })
      .catch(explain('unwritable', showKey(key)));
    marked.add(folder);
  }

  return {
    path: showS3Location(root),
    account,
    locate,
    async store(day, runId, name, content, expected) {
      const folder = writePrefix(day, runId);
      const key = locateObject(day, runId, name);
      return runAlone(folder, async () => {
        const mark = () => (holdsRuns(day) ? markFolder(folder) : Promise.resolve());
        return { name, ...(await storeObject({ folder, key, expected, mark }, content)) };
      });
    },
    async *read(day, runId, name) {
      const key = locateObject(day, runId, name);
      const bucket = await open();
      try {
        for await (const { bytes } of bucket.read(key)) yield bytes;
      } catch (error) {
        throw explained(error, 'unreadable', showKey(key));
      }
    },
    async list(day, runId) {
      const prefix = `${writePrefix(day, runId)}/`;
      const bucket = await open();
      const keys = await bucket.list(prefix).catch(explain('unreadable', showKey(prefix)));
      return withoutHidden(keys.map((key) => key.slice(prefix.length)));
    },
    async remove(day, runId, names) {
      const keys = names.map((name) => locateObject(day, runId, name));
      const folder = writePrefix(day, runId);
      await runAlone(folder, async () => {
        const bucket = await open();
        for (const key of keys) await bucket.remove(key).catch(explain('unwritable', showKey(key)));
        await bucket.abandonUploads(`${folder}/`).catch(explain('unwritable', showKey(folder)));
      });
    },
    async readLedgerMark() {
      const bucket = await open();
      const blocks: Uint8Array[] = [];
      try {
        for await (const { bytes } of bucket.read(ledgerMark)) blocks.push(Buffer.from(bytes));
      } catch (error) {
        if (error instanceof S3Error && error.fault === 'missing') return undefined;
        throw explained(error, 'unreadable', showKey(ledgerMark));
      }
      return Buffer.concat(blocks).toString();
    },
    async writeLedgerMark(text) {
      const bucket = await open();
      const content = { open: () => toBlocks(text), bytes: Buffer.byteLength(text), metadata: {} };
      await bucket.replace(ledgerMark, content).catch(explain('unwritable', showKey(ledgerMark)));
    },
    async listFolders() {
      const bucket = await open();
      const keys = await bucket.listBelow(home).catch(explain('unreadable', showKey(home)));
      const folders = new Map<string, string[]>();
      for (const key of keys) {
        const [day = '', runId, name, ...deeper] = key.slice(home.length).split('/');
        if (!holdsRuns(day) || runId === undefined || name === undefined || deeper.length > 0) continue;
        const folder = `${day}/${runId}`;
        folders.set(folder, [...(folders.get(folder) ?? []), name]);
      }
      return [...folders].sort().map(([folder, names]) => {
        const [day = '', runId = ''] = folder.split('/');
        return toRunFolder(day, runId, names);
      });
    },
  };
}

/** For `catch`: turns an error of the server or of this machine into an ArchiveError. */
function explain(code: 'unreadable' | 'unwritable', path: string): (error: unknown) => never {
  return (error) => {
    throw explained(error, code, path);
  };
}

function explained(error: unknown, code: 'unreadable' | 'unwritable', path: string): unknown {
  if (error instanceof ArchiveError) return error;
  const reason = reasonOf(error);
  if (reason === undefined) return error;
  if (error instanceof S3Error && error.fault === 'missing' && code === 'unreadable') {
    return new ArchiveError('absent', `there is no ${path} in the archive`, { cause: error });
  }
  const verb = code === 'unreadable' ? 'read' : 'written';
  const peer = error instanceof S3Error ? error.peer : undefined;
  return new ArchiveError(code, `${path} can't be ${verb} in the archive${reason}`, { cause: error, peer });
}

function reasonOf(error: unknown): string | undefined {
  if (error instanceof S3Error) return `: ${error.why}`;
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? ` (${error.code})`
    : undefined;
}

/** A file without a name: nothing is left behind if the process is killed. */
export interface UnnamedFile {
  /**
   * Writes the content. Rethrows what the content throws.
   *
   * @param explain turns a system error into an error of the caller
   */
  fill(
    content: AsyncIterable<Uint8Array>,
    explain: (error: unknown) => never,
  ): Promise<{ readonly bytes: number; readonly sha256: string }>;
  /** Reads everything that was written. */
  read(): AsyncGenerator<Buffer, void, undefined>;
  close(): Promise<void>;
}

/** @throws the system's error */
export async function createUnnamedFile(folder: string): Promise<UnnamedFile> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `.${randomUUID()}.partial`);
  const file = await open(path, 'wx+', 0o600);
  try {
    await rm(path);
  } catch (error) {
    await file.close();
    throw error;
  }
  return {
    async fill(content, explain) {
      const measured = createMeasure();
      for await (const block of measured.pass(content)) await file.writeFile(block).catch(explain);
      return measured.result();
    },
    // A new buffer each time, because an upload holds several.
    async *read() {
      for (let position = 0; ; ) {
        const buffer = Buffer.allocUnsafe(blockBytes);
        const { bytesRead } = await file.read({ buffer, position });
        if (bytesRead === 0) return;
        position += bytesRead;
        yield buffer.subarray(0, bytesRead);
      }
    },
    close: () => file.close(),
  };
}
