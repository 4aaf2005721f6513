import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSftpServer } from '../../src/sftp/server.js';
import { openSsh } from '../../test/support/sftp-programs.js';
import { prepareFileStage } from '../file-stage.js';

/** A day by file, on one machine. */
export interface FileDay {
  readonly bookings: number;
  readonly cpuSeconds: number;
  readonly peakMb: number;
  /** Without the service's own time. */
  readonly workSeconds: number;
  readonly fileBytes: number;
}

export const filesNeed = openSsh.needs;

export async function reviewByFile(bookings: number): Promise<FileDay> {
  const stage = await prepareFileStage(bookings);
  try {
    const { cpuSeconds, peakMb, workSeconds } = await stage.deliver('ours');
    const { size } = await stat(stage.publishedFile);
    return { bookings: stage.counts.bookings, cpuSeconds, peakMb, workSeconds, fileBytes: size };
  } finally {
    await stage.close();
  }
}

/** MB per second into a local sshd, without a network. */
export async function measureUpload(megabytes: number): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'hotel-review-scale-'));
  const file = join(folder, 'review.csv');
  await writeFile(file, randomBytes(megabytes * 1_000_000));
  const ssh = await openSsh.start();
  const { username, privateKeyFile = '' } = ssh.login;
  const server = createSftpServer({
    host: '127.0.0.1',
    port: ssh.port,
    username,
    privateKeyFile,
    hostKeys: ssh.fingerprints,
    root: ssh.root,
  });
  try {
    const session = await server.connect({ signal: new AbortController().signal });
    const started = performance.now();
    await session.upload(file, 'review.part');
    const seconds = (performance.now() - started) / 1000;
    await session.close();
    return megabytes / seconds;
  } finally {
    await ssh.stop();
    await rm(folder, { recursive: true });
  }
}
