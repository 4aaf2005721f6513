import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { blockBytes, createMeasure } from '../base/content.js';
import { type S3Bucket, S3Error, type S3Location, showS3Location } from '../transports/s3/bucket.js';
import {
  type Archive,
  ArchiveError,
  createKeyedMutex,
  expectContent,
  expectSafeName,
  expectSame,
  explain,
  explained,
  holdsRuns,
  nameFolderMark,
  nameLedgerMark,
  toBlocks,
  toRunFolder,
  withoutHidden,
} from './archive.js';

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

/**
 * An archive in a bucket: each file is an object `<root>/<day>/<run>/<name>` with its SHA-256 as metadata.
 *
 * Two processes must not store files for one run at the same time (the ledger's claims ensure that): on a server without
 * conditional writes the later content would replace the earlier one.
 */
export function createS3Archive({
  root,
  account,
  open: openBucket,
  temporaryFolder,
}: S3ArchiveOptions): Archive {
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

  /** Before the folder's first object, so that none is ever without an owner. */
  async function markFolder(folder: string): Promise<void> {
    if (marked.has(folder)) return;
    const key = `${folder}/${nameFolderMark(account)}`;
    const bucket = await openBucket();
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
      const path = showKey(key);
      const unwritable = explain('unwritable', path);
      return runAlone(folder, async () => {
        const file = await openUnnamed(temporaryFolder).catch(unwritable);
        try {
          const measured = createMeasure();
          for await (const block of measured.pass(content)) await file.writeFile(block).catch(unwritable);
          const { bytes, sha256 } = measured.result();
          expectContent(path, sha256, expected);
          const bucket = await openBucket();
          await bucket.abandonUploads(`${folder}/`).catch(unwritable);
          const isStored = async () => {
            const stored = await findChecksum(bucket, key).catch(explain('unreadable', path));
            if (stored !== undefined) expectSame(path, sha256, stored);
            return stored !== undefined;
          };
          if (await isStored()) return { name, bytes, sha256 };
          if (holdsRuns(day)) await markFolder(folder);
          const object = { open: () => readWhole(file), bytes, metadata: { [checksumName]: sha256 } };
          if ((await bucket.put(key, object).catch(unwritable)) === 'taken' && !(await isStored()))
            throw new ArchiveError('unwritable', `${path} is being written by another process`);
          return { name, bytes, sha256 };
        } finally {
          await file.close();
        }
      });
    },
    async *read(day, runId, name) {
      const key = locateObject(day, runId, name);
      const bucket = await openBucket();
      try {
        for await (const { bytes } of bucket.read(key)) yield bytes;
      } catch (error) {
        throw explained(error, 'unreadable', showKey(key));
      }
    },
    async list(day, runId) {
      const prefix = `${writePrefix(day, runId)}/`;
      const bucket = await openBucket();
      const keys = await bucket.list(prefix).catch(explain('unreadable', showKey(prefix)));
      return withoutHidden(keys.map((key) => key.slice(prefix.length)));
    },
    async remove(day, runId, names) {
      const keys = names.map((name) => locateObject(day, runId, name));
      const folder = writePrefix(day, runId);
      await runAlone(folder, async () => {
        const bucket = await openBucket();
        for (const key of keys) await bucket.remove(key).catch(explain('unwritable', showKey(key)));
        await bucket.abandonUploads(`${folder}/`).catch(explain('unwritable', showKey(folder)));
      });
    },
    async readLedgerMark() {
      const bucket = await openBucket();
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
      const bucket = await openBucket();
      const content = { open: () => toBlocks(text), bytes: Buffer.byteLength(text), metadata: {} };
      await bucket.replace(ledgerMark, content).catch(explain('unwritable', showKey(ledgerMark)));
    },
    async listFolders() {
      const bucket = await openBucket();
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

/** A file without a name: nothing is left behind if the process is killed. @throws the system's error */
async function openUnnamed(folder: string): Promise<FileHandle> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `.${randomUUID()}.partial`);
  const file = await open(path, 'wx+', 0o600);
  try {
    await rm(path);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** From its start. A new buffer each time, because an upload holds several. */
async function* readWhole(file: FileHandle): AsyncGenerator<Buffer, void, undefined> {
  for (let position = 0; ; ) {
    const buffer = Buffer.allocUnsafe(blockBytes);
    const { bytesRead } = await file.read({ buffer, position });
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
