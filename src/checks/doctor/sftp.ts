import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { formatCount, formatInstant } from '../../base/format.js';
import type { BusinessDay } from '../../booking/business-day.js';
import { createResultNameTest, locateRemoteFiles } from '../../review/file/remote-files.js';
import type { PresentedKey } from '../../transports/sftp/connection.js';
import {
  type RemoteFile,
  SftpError,
  type SftpServer,
  type SftpSession,
  type TimeSource,
} from '../../transports/sftp/sftp.js';
import { type Finding, findingsOf } from '../examination/finding.js';
import type { UnpinnedServer } from './configuration.js';

const { ok, warning, wrong } = findingsOf('sftp');

/** The finding if no server is configured. */
export const noSftpServer = ok('not configured; needed for file delivery only');

/** How long removing the test file may take once the check is stopped. */
const cleanUpMs = 2_000;

interface SftpCheckParts {
  /** Opens the server, which reports the host key that it presents. */
  readonly open: (onHostKey: (key: PresentedKey) => void) => SftpServer;
  /** `user@host:port`, for people. */
  readonly address: string;
  /** The day whose folder is used for the test. */
  readonly day: BusinessDay;
  readonly resultPattern: string;
  /** A folder on this machine for the test file. */
  readonly temporaryFolder: string;
}

/** Connects, logs in, does what a file run does in the day's folder, and lists what is there. */
export async function checkSftp(parts: SftpCheckParts, signal: AbortSignal): Promise<readonly Finding[]> {
  const { open, address, temporaryFolder, day } = parts;
  const { folder } = locateRemoteFiles(day);
  const found: Finding[] = [];
  const hold = holdWhileThereIsSomethingToRemove(signal);
  let key: PresentedKey | undefined;
  let session: SftpSession | undefined;
  try {
    const server = open((presented) => {
      key = presented;
    });
    session = await server.connect({ signal: hold.signal });
    found.push(ok(`connected as ${address}; it presented the pinned host key ${key?.fingerprint}`));
    const trial = { session, folder, temporaryFolder, signal, onFile: hold.setFile };
    const { name, removal, time } = await tryToDeliver(trial);
    const path = `${folder} (created if missing, as an upload does)`;
    found.push(
      removal === 'denied'
        ? warning(
            `a file was uploaded to ${path}, renamed and read back; its removal was denied: ${name} was left behind`,
            'Ask the operator for permission to remove files, and to remove that one. Without it old results stay, too.',
          )
        : ok(`a file was uploaded to ${path}, renamed, read back and removed`),
    );
    if (time !== 'kept')
      found.push(ok(`${timeWords[time]}; size and content decide whether a file has changed`));
    let unusableNames = 0;
    const onUnusableName = (name: string) => {
      // A hidden file, such as a test file that could not be removed, is not a result.
      if (!name.startsWith('.')) unusableNames += 1;
    };
    found.push(describeFolder(await session.list(folder, { onUnusableName }), parts));
    if (unusableNames > 0)
      found.push(
        warning(
          `${formatCount(unusableNames)} more in ${folder} with unusable names (a slash, control or invisible characters, too long): they are skipped`,
          'Ask the operator who creates such files, and to remove them.',
        ),
      );
    return found;
  } catch (error) {
    if (!(error instanceof SftpError)) throw error;
    return [...found, wrong(error.message, adviseOn(error))];
  } finally {
    await session?.close();
    hold.end();
  }
}

const timeWords = {
  none: 'the server reports no time of a file',
  clock: 'the server gives every file the present time',
} as const satisfies Partial<Record<TimeSource, string>>;

/** Asks the server for its host key, for a configuration that pins none yet. */
export async function showHostKey(
  { part, setting, host, port }: UnpinnedServer,
  present: () => Promise<PresentedKey>,
): Promise<readonly Finding[]> {
  const { wrong } = findingsOf(part);
  try {
    const { fingerprint, type } = await present();
    return [
      wrong(
        `${host}:${port} presents the host key ${fingerprint} (${type}), and none is pinned`,
        `Ask its operator for the fingerprint. Only if it is the same, set ${setting}: "${fingerprint}".`,
      ),
    ];
  } catch (error) {
    if (error instanceof SftpError) return [wrong(error.message)];
    throw error;
  }
}

function describeFolder(files: readonly RemoteFile[], { day, resultPattern }: SftpCheckParts): Finding {
  const { folder, name } = locateRemoteFiles(day);
  const isResult = createResultNameTest(resultPattern, day);
  const input = files.find((file) => file.name === name);
  const results = files.filter((file) => isResult(file.name));
  const notes = [
    input === undefined ? `no ${name}` : describeFile(input),
    ...(results.length === 0 ? [`no result of ${day.iso}`] : results.map(describeFile)),
  ];
  return ok(`${folder} holds ${formatCount(files.length)} files: ${notes.join('; ')}`);
}

function describeFile({ name, size, modifiedAt }: RemoteFile): string {
  const time = modifiedAt === undefined ? 'no time' : formatInstant(modifiedAt);
  return `${name} (${formatCount(size)} bytes, ${time})`;
}

function adviseOn({ kind, code }: SftpError): string | undefined {
  if (code === 'no-such-file')
    return 'file.sftp.root is the folder on the server that the service calls the SFTP root: is it right?';
  switch (kind) {
    case 'denied':
      return 'Ask the operator for permission to create folders, and to write, rename, read and remove files below file.sftp.root.';
    case 'retryable':
      return 'Fix that, or try again later.';
    case 'fatal':
    case 'excessive':
      // Its message says what to do.
      return undefined;
  }
}

/** A signal that aborts after another one: at once or, while our file is on the server, after a short delay. */
function holdWhileThereIsSomethingToRemove(signal: AbortSignal) {
  const delayed = new AbortController();
  let fileExists = false;
  let timer: NodeJS.Timeout | undefined;
  const stop = () => delayed.abort(signal.reason);
  const onAbort = () => {
    if (fileExists) timer = setTimeout(stop, cleanUpMs);
    else stop();
  };
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  return {
    signal: delayed.signal,
    setFile(isThere: boolean): void {
      fileExists = isThere;
    },
    end(): void {
      signal.removeEventListener('abort', onAbort);
      clearTimeout(timer);
    },
  };
}

interface SftpTrialParts {
  readonly session: SftpSession;
  /** On the server, below its root. */
  readonly folder: string;
  /** On this machine. */
  readonly temporaryFolder: string;
  /** Stops between two steps. The file is removed even then. */
  readonly signal: AbortSignal;
  /** Called when the file may be on the server, and when it no longer is. */
  readonly onFile: (isThere: boolean) => void;
}

interface SftpTrial {
  /** The file's last name, without the folder. */
  readonly name: string;
  readonly removal: 'removed' | 'absent' | 'denied';
  readonly time: TimeSource;
}

/**
 * Does with a small file what a run does with the day's file and its result: creates the folder, uploads, renames, reads
 * back. Neither name ends in `.csv`, so that the file is not taken for review.
 *
 * @throws SftpError for the first step that fails; the signal's reason
 */
async function tryToDeliver(parts: SftpTrialParts): Promise<SftpTrial> {
  const { session, folder, signal, onFile } = parts;
  const local = await mkdtemp(join(parts.temporaryFolder, 'hotel-review-doctor-'));
  const trial = `.hotel-review-doctor-${randomUUID()}`;
  const [uploaded, published] = [`${folder}/${trial}.tmp`, `${folder}/${trial}.renamed.tmp`];
  try {
    await session.makeFolder(folder);
    signal.throwIfAborted();
    onFile(true);
    let time: TimeSource;
    try {
      await deliver(parts, { local, uploaded, published });
      time = await session.examineTime(published);
      signal.throwIfAborted();
    } catch (error) {
      await removeQuietly(session, [published, uploaded]);
      throw error;
    }
    return { name: `${trial}.renamed.tmp`, removal: await session.remove(published), time };
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
  const limit = { bytes: content.length, advice: 'Something else writes there.' };
  await session.download(published, received, { limit });
  signal.throwIfAborted();
  if (!content.equals(await readFile(received)))
    throw new SftpError(
      'retryable',
      'damaged-upload',
      `download ${published}: other bytes came back than were sent`,
    );
}

/** Only the first failure is reported; over a lost connection nothing can be removed. */
async function removeQuietly(session: SftpSession, paths: readonly string[]): Promise<void> {
  for (const path of paths) await session.remove(path).catch(() => {});
}
