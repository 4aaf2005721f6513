import { execFileSync } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openSsh } from '../test/support/sftp-programs.js';
import { type FileDayCounts, writeFileDay } from './file-day.js';
import { makeTemporaryFolder } from './harness/environment.js';
import { type MeasuredProcess, measureProcess } from './harness/measured-process.js';
import { startFileService } from './stand-ins/start-file-service.js';

/** What delivers the day: this product, or a script in `peers`. */
export type FileContestant = 'ours' | 'ours-encrypted' | 'node-script' | 'python-script';

export interface FileStage {
  readonly counts: FileDayCounts;
  /** The review file on the server. */
  readonly publishedFile: string;
  /** This product's ledger, closed after each turn. */
  readonly ledgerFile: string;
  /** The source of the day. */
  readonly csvFile: string;
  /** Delivers the day from a clean state, without ledger or remote files. Subtracts the service's own time. */
  deliver(contestant: FileContestant): Promise<MeasuredProcess & { readonly workSeconds: number }>;
  close(): Promise<void>;
}

const day = '2026-11-20';
const pollSeconds = 0.2;
/** The cipher that ssh2 prefers. */
export const cipher = 'aes128-gcm@openssh.com';

const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/** A day for review by file: bookings, an sshd, the service, and the settings of all contestants. */
export async function prepareFileStage(bookings: number): Promise<FileStage> {
  const { path: folder, remove } = makeTemporaryFolder();
  const ssh = await openSsh.start();
  const service = await startFileService(ssh.root);
  const { username, privateKeyFile = '' } = ssh.login;
  const [csv, knownHostsFile] = [join(folder, 'bookings.csv'), join(folder, 'known_hosts')];
  const [configuration, peerSettings] = [join(folder, 'hotel-review.yaml'), join(folder, 'peer.json')];
  const encrypting = join(folder, 'encrypting.yaml');
  const peerFolder = join(folder, 'peer');
  const api = { baseUrl: service.baseUrl, apiKey: 'bench', accountId: 'bench' };
  const login = { host: '127.0.0.1', port: ssh.port, username, privateKeyFile, root: ssh.root };

  const counts = await writeFileDay(csv, { day, bookings });
  await writeFile(knownHostsFile, scanHostKeys(ssh.port));
  const settings = {
    service: api,
    source: { kind: 'csv', path: csv },
    delivery: 'file',
    file: { sftp: { ...login, hostKey: [...ssh.fingerprints] }, resultPollSeconds: pollSeconds },
  };
  await writeFile(configuration, JSON.stringify(settings));
  await writeFile(encrypting, JSON.stringify({ ...settings, keys: './keys' }));
  await writeFile(
    peerSettings,
    JSON.stringify({
      ...api,
      day,
      bookings: csv,
      folder: peerFolder,
      pollSeconds,
      sftp: { ...login, hostKeys: ssh.fingerprints, knownHostsFile, cipher },
    }),
  );

  const ours = (config: string) => [
    process.execPath,
    pathOf('../dist/jobs/hotel-review.js'),
    'run',
    '--day',
    day,
    '--config',
    config,
    '--json',
  ];
  const commands: Readonly<Record<FileContestant, readonly string[]>> = {
    ours: ours(configuration),
    'ours-encrypted': ours(encrypting),
    'node-script': [process.execPath, pathOf('peers/evening-script.mjs'), peerSettings],
    'python-script': ['python3', pathOf('peers/evening_script.py'), peerSettings],
  };
  /** What each should have sent: the Node script does not remove duplicates. */
  const sent = (contestant: FileContestant) =>
    contestant === 'node-script' ? counts.bookings + counts.duplicates : counts.bookings;

  return {
    counts,
    publishedFile: ssh.disk('VerifyMappings/112026/20112026.csv'),
    ledgerFile: join(folder, 'data/ledger.db'),
    csvFile: csv,
    async deliver(contestant) {
      for (const left of [join(folder, 'data'), peerFolder, ssh.disk('VerifyMappings')])
        await rm(left, { recursive: true, force: true });
      await mkdir(peerFolder);
      await service.takeWorkedSeconds();
      const measured = await measureProcess(commands[contestant], { cwd: folder });
      const rows = readSentRows(measured.stdout);
      if (rows !== sent(contestant))
        throw new Error(`${contestant}: reviewed ${rows} bookings, expected ${sent(contestant)}`);
      return { ...measured, workSeconds: measured.wallSeconds - (await service.takeWorkedSeconds()) };
    },
    async close() {
      await service.stop();
      await ssh.stop();
      remove();
    },
  };
}

/** From the final JSON: for ours the rows of the file whose result has arrived, for the scripts the rows of the result. */
function readSentRows(stdout: string): number | undefined {
  const closing = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as {
    readonly rows?: number;
    readonly file?: { readonly rows: number; readonly resultName: string | null } | null;
  };
  return closing.rows ?? (closing.file?.resultName ? closing.file.rows : undefined);
}

function scanHostKeys(port: number): string {
  return execFileSync('ssh-keyscan', ['-p', `${port}`, '127.0.0.1'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}
