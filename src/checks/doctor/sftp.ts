import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { formatCount, formatInstant } from '../../base/format.js';
import { type BusinessDay, businessDayAt } from '../../booking/business-day.js';
import { createResultNameTest, locateRemoteFiles } from '../../review/file/remote-files.js';
import { type RemoteFile, SftpError, type SftpSession } from '../../transports/sftp/sftp.js';
import { type Check, type Finding, findingsOf } from '../check.js';

const { ok, warning } = findingsOf('sftp');

/** Logs in, does what a file run does in the folder of the day that `run` takes, and lists what is there. */
export const sftp: Check = {
  part: 'sftp',
  seconds: 40,
  async look({ config, clock, sftp, temporaryFolder }, signal) {
    const server = config.file.sftp;
    if (!server) return [ok('not configured; needed for delivery by file and for exports of the mappings')];
    const day = businessDayAt(new Date(clock()), config.timezone).previous();
    const { folder } = locateRemoteFiles(day);
    // Stopped between two steps only: what was uploaded has to be removed.
    const session = await sftp().connect({ signal: new AbortController().signal });
    const local = await mkdtemp(join(temporaryFolder, 'hotel-review-doctor-'));
    try {
      const told = await tryToDeliver(session, { folder, local }, signal);
      const address = `${server.username}@${server.host}:${server.port}`;
      return [
        ok(`connected as ${address}; it presented a pinned host key`),
        ...told,
        await describeFolder(session, day, config.file.resultPattern),
      ];
    } finally {
      await session.close();
      await rm(local, { recursive: true, force: true });
    }
  },
};

/**
 * Does with a small file what a run does with the day's file and its result: creates the folder, uploads, renames, reads
 * back. Neither name ends in `.csv`, so that the file is not taken for review.
 *
 * @param folders `folder` on the server, below its root; `local` on this machine
 * @throws SftpError for the first step that fails; the signal's reason
 */
async function tryToDeliver(
  session: SftpSession,
  { folder, local }: Readonly<Record<'folder' | 'local', string>>,
  signal: AbortSignal,
): Promise<Finding[]> {
  const name = `.hotel-review-doctor-${randomUUID()}`;
  const [uploaded, published] = [`${folder}/${name}.tmp`, `${folder}/${name}.renamed.tmp`];
  await session.makeFolder(folder);
  try {
    const time = await deliver(session, { local, uploaded, published }, signal);
    const what = `a file was uploaded to ${folder} (created if missing, as an upload does), renamed`;
    const size = 'size and content decide whether a file has changed';
    return [
      (await session.remove(published)) === 'denied'
        ? warning(
            `${what} and read back; its removal was denied: ${name}.renamed.tmp was left behind`,
            'Ask the operator for permission to remove files, and to remove that one. Without it old results stay, too.',
          )
        : ok(`${what}, read back and removed`),
      ...(time === 'none' ? [ok(`the server reports no time of a file; ${size}`)] : []),
      ...(time === 'clock' ? [ok(`the server gives every file the present time; ${size}`)] : []),
    ];
  } catch (error) {
    // Only the first failure is reported; over a lost connection nothing can be removed.
    for (const path of [published, uploaded]) await session.remove(path).catch(() => {});
    throw error;
  }
}

async function deliver(
  session: SftpSession,
  { local, uploaded, published }: Readonly<Record<'local' | 'uploaded' | 'published', string>>,
  signal: AbortSignal,
) {
  const [sent, received] = [join(local, 'sent'), join(local, 'received')];
  const content = Buffer.from(`A file of hotel-review doctor, ${randomUUID()}. It can be removed.\n`);
  await writeFile(sent, content, { mode: 0o600 });
  signal.throwIfAborted();
  await session.upload(sent, uploaded);
  signal.throwIfAborted();
  await session.publish(uploaded, published, content.length);
  signal.throwIfAborted();
  const limit = { bytes: content.length, advice: 'Something else writes there.' };
  await session.download(published, received, { limit });
  if (!content.equals(await readFile(received)))
    throw new SftpError(
      'retryable',
      'damaged-upload',
      `download ${published}: other bytes came back than were sent`,
    );
  return session.examineTime(published);
}

async function describeFolder(session: SftpSession, day: BusinessDay, pattern: string): Promise<Finding> {
  const { folder, name } = locateRemoteFiles(day);
  const isResult = createResultNameTest(pattern, day);
  let unusable = 0;
  const files = await session.list(folder, {
    onUnusableName(name) {
      // A hidden file, such as a test file that could not be removed, is not a result.
      if (!name.startsWith('.')) unusable += 1;
    },
  });
  const input = files.find((file) => file.name === name);
  const results = files.filter((file) => isResult(file.name));
  const notes = [
    input === undefined ? `no ${name}` : describeFile(input),
    ...(results.length === 0 ? [`no result of ${day.iso}`] : results.map(describeFile)),
  ];
  const message = `${folder} holds ${formatCount(files.length)} files: ${notes.join('; ')}`;
  if (unusable === 0) return ok(message);
  return warning(
    `${message}; ${formatCount(unusable)} more with unusable names (a slash, control or invisible characters, too long) are skipped`,
    'Ask the operator who creates such files, and to remove them.',
  );
}

function describeFile({ name, size, modifiedAt }: RemoteFile): string {
  const time = modifiedAt === undefined ? 'no time' : formatInstant(modifiedAt);
  return `${name} (${formatCount(size)} bytes, ${time})`;
}
