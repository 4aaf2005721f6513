import { execFileSync } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { open, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openSsh } from '../../test/support/sftp-programs.js';
import type { Comparison, Contestant } from '../comparison.js';
import { cipher } from '../file-stage.js';
import { findMissingProgram, makeTemporaryFolder } from '../harness/environment.js';
import { findTimeObstacle, type MeasuredProcess, measureProcess } from '../harness/measured-process.js';

export interface UploadOptions {
  readonly name: string;
  readonly megabytes: Readonly<Record<'full' | 'quick', number>>;
  readonly work: string;
}

const peer = "OpenSSH's sftp";
const ourScript = fileURLToPath(new URL('../contestants/upload.ts', import.meta.url));

/** Uploading a file to an sshd under a temporary name, comparing its size, and renaming it into place. */
export function createUploadComparison({ name, megabytes, work }: UploadOptions): Comparison {
  return {
    name,
    work,
    against: peer,
    unit: 'MB/s',
    reach: { ratio: { atLeast: 1 } },
    findObstacle: () =>
      findTimeObstacle() ??
      openSsh.needs ??
      findMissingProgram('ssh-keyscan', 'openssh-client') ??
      findMissingProgram('sftp', 'openssh-client'),
    async prepare(scale) {
      const size = megabytes[scale];
      const { path: folder, remove } = makeTemporaryFolder();
      const ssh = await openSsh.start();
      const [file, knownHostsFile] = [join(folder, 'day.csv'), join(folder, 'known_hosts')];
      const settings = join(folder, 'upload.json');
      await writeNoise(file, size);
      const scanned = execFileSync('ssh-keyscan', ['-p', `${ssh.port}`, '127.0.0.1'], {
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      await writeFile(knownHostsFile, scanned);
      const { username, privateKeyFile = '' } = ssh.login;
      const login = { host: '127.0.0.1', port: ssh.port, username, privateKeyFile, root: ssh.root };
      await writeFile(
        settings,
        JSON.stringify({ login: { ...login, hostKeys: ssh.fingerprints }, file, bytes: size * 1e6 }),
      );

      /** From the seconds that a turn reports itself. */
      const contestant = (
        called: string,
        command: readonly string[],
        input: string,
        seconds: (measured: MeasuredProcess) => number,
      ): Contestant => ({
        name: called,
        async run() {
          for (const left of await readdir(ssh.root)) await rm(ssh.disk(left), { recursive: true });
          const measured = await measureProcess(command, { cwd: folder, input });
          const arrived = (await stat(ssh.disk('day.csv'))).size;
          if (arrived !== size * 1e6) throw new Error(`${called}: ${arrived} of ${size * 1e6} bytes arrived`);
          const { cpuSeconds, peakMb } = measured;
          return { value: size / seconds(measured), cpuSeconds, peakMb };
        },
      });
      return {
        ours: contestant(
          'booked-hotel review',
          [process.execPath, '--import', import.meta.resolve('tsx'), ourScript, settings],
          '',
          // In a run it is one step of a running process.
          ({ stdout }) => (JSON.parse(stdout) as { seconds: number }).seconds,
        ),
        other: contestant(
          peer,
          [
            ...['sftp', '-q', '-b', '-', '-P', `${ssh.port}`, '-c', cipher, '-i', privateKeyFile],
            ...['-o', `UserKnownHostsFile=${knownHostsFile}`, `${username}@127.0.0.1`],
          ],
          `cd ${ssh.root}\nput ${file} day.part\nls -ln day.part\nrename day.part day.csv\n`,
          ({ wallSeconds }) => wallSeconds,
        ),
        notes: [
          'Incompressible data (1 GB: 1000 MB), aes128-gcm, temporary name, size compared, renamed.',
          'Ours from connecting to closing, the other a whole process. CPU includes both starts.',
        ],
        async close() {
          await ssh.stop();
          remove();
        },
      };
    },
  };
}

/** Random, so that compression gains nothing. */
async function writeNoise(path: string, megabytes: number): Promise<void> {
  const block = Buffer.alloc(1_000_000);
  const file = await open(path, 'wx', 0o600);
  for (let written = 0; written < megabytes; written += 1) await file.write(randomFillSync(block));
  await file.close();
}
