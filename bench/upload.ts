import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSftpServer } from '../src/sftp/server.js';
import { openSsh } from '../test/support/open-ssh.js';

/**
 * How fast a review file goes up, beside OpenSSH's own `sftp`, to the same sshd and in turn: connecting included for
 * both. The file is as large as a day of a million bookings.
 */
const megabytes = Number(process.argv[2] ?? 85);
const rounds = 7;
if (openSsh.needs !== undefined) throw new Error(`this benchmark ${openSsh.needs}`);
const folder = await mkdtemp(join(tmpdir(), 'hotel-review-bench-'));
const file = join(folder, 'review.csv');
await writeFile(file, randomBytes(megabytes * 1_000_000));
const ssh = await openSsh.start();
const { username, privateKeyFile = '' } = ssh.login;

const contestants = {
  'booked-hotel review': async () => {
    const server = createSftpServer({
      host: '127.0.0.1',
      port: ssh.port,
      username,
      privateKeyFile,
      hostKeys: ssh.fingerprints,
      root: ssh.root,
    });
    const session = await server.connect({ signal: new AbortController().signal });
    await session.upload(file, 'ours.part');
    await session.publish('ours.part', 'ours.csv', megabytes * 1_000_000);
    await session.close();
  },
  'OpenSSH sftp': async () => {
    const options = ['-q', '-b', '-', '-P', `${ssh.port}`, '-i', privateKeyFile];
    const trust = ['-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null'];
    execFileSync('sftp', [...options, ...trust, `${username}@127.0.0.1`], {
      input: `cd ${ssh.root}\nput ${file} theirs.part\nrename theirs.part theirs.csv\n`,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
  },
};
const seconds = new Map(Object.keys(contestants).map((name) => [name, [] as number[]]));
for (let round = 0; round < rounds; round += 1) {
  for (const [name, upload] of Object.entries(contestants)) {
    const started = performance.now();
    await upload();
    seconds.get(name)?.push((performance.now() - started) / 1000);
  }
}
for (const [name, taken] of seconds) {
  const sorted = taken.toSorted((one, other) => one - other);
  const median = sorted[Math.floor(rounds / 2)] ?? 0;
  const range = `${sorted[0]?.toFixed(2)} to ${sorted.at(-1)?.toFixed(2)} s`;
  console.log(
    `${name}: ${(megabytes / median).toFixed(0)} MB/s (median ${median.toFixed(2)} s of ${rounds}, ${range})`,
  );
}
await ssh.stop();
await rm(folder, { recursive: true });
