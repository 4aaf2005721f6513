import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SftpError, type SftpSession } from '../sftp/sftp.js';

interface SftpTrialParts {
  readonly session: SftpSession;
  /** On the server, below its root. */
  readonly folder: string;
  /** On this machine. */
  readonly temporaryFolder: string;
  /** Stops between two steps; the file is removed all the same. */
  readonly signal: AbortSignal;
  /** Told when a file of the trial may lie on the server, and when none does any more. */
  readonly onFile: (isThere: boolean) => void;
}

interface SftpTrial {
  /** The last name of the file, without the folder. */
  readonly name: string;
  readonly removal: 'removed' | 'absent' | 'denied';
}

/**
 * Does with a few bytes what a run does with the day's file and its result: makes the folder, uploads, renames, reads
 * back. Neither name ends in `.csv`, so nobody takes the file for one to be reviewed.
 *
 * @throws SftpError for the first step that fails; the signal's reason
 */
export async function tryToDeliver(parts: SftpTrialParts): Promise<SftpTrial> {
  const { session, folder, signal, onFile } = parts;
  const local = await mkdtemp(join(parts.temporaryFolder, 'hotel-review-doctor-'));
  const trial = `.hotel-review-doctor-${randomUUID()}`;
  const [uploaded, published] = [`${folder}/${trial}.tmp`, `${folder}/${trial}.renamed.tmp`];
  try {
    await session.makeFolder(folder);
    signal.throwIfAborted();
    onFile(true);
    try {
      await deliver(parts, { local, uploaded, published });
    } catch (error) {
      await removeQuietly(session, [published, uploaded]);
      throw error;
    }
    return { name: `${trial}.renamed.tmp`, removal: await session.remove(published) };
  } finally {
    onFile(false);
    await rm(local, { recursive: true, force: true });
  }
}

async function deliver(
  { session, signal }: SftpTrialParts,
  { local, uploaded, published }: { readonly [name in 'local' | 'uploaded' | 'published']: string },
): Promise<void> {
  const [sent, received] = [join(local, 'sent'), join(local, 'received')];
  const content = Buffer.from(`A file of hotel-review doctor, ${randomUUID()}. It can be removed.\n`);
  await writeFile(sent, content, { mode: 0o600 });
  await session.upload(sent, uploaded);
  signal.throwIfAborted();
  await session.publish(uploaded, published, content.length);
  signal.throwIfAborted();
  await session.download(published, received);
  signal.throwIfAborted();
  if (!content.equals(await readFile(received)))
    throw new SftpError(
      'retryable',
      'damaged-upload',
      `download ${published}: other bytes came back than were sent`,
    );
}

/** What failed first is what is told; a connection that is gone can remove nothing. */
async function removeQuietly(session: SftpSession, paths: readonly string[]): Promise<void> {
  for (const path of paths) await session.remove(path).catch(() => {});
}
