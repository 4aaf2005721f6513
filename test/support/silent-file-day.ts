import { execFileSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect } from 'vitest';
import type { CommandResult } from './command.js';
import { day, type Settings } from './day-folder.js';
import { type FileDay, type FileDayOptions, prepareFileDay, remoteFolder } from './file-day.js';
import { makeBookings, toCsv } from './made-bookings.js';
import type { RunningSftpServer } from './sftp-server.js';
import { makeRemoteFolder } from './use-servers.js';

/** Every guest of the day. */
export const guest = 'Canaria Zwitscherfink';
const names = [guest, ...guest.split(' ')];

const serviceSecrets = {
  HOTEL_REVIEW_API_KEY: 'canary-key-5f0c7e3b',
  HOTEL_REVIEW_ACCOUNT_ID: 'canary-account-91d4',
};

const bookings = makeBookings(60).map((booking) => ({ ...booking, BookingClientName: guest }));
/** BR-59 can't go into the file and is posted. */
const csv = toCsv(bookings).replace('Expedia,0059A', ',0059A');

/** Names may be in the source, which is not ours, in ledger and spool, and in the files of the archive. */
const mayHoldNames =
  /^(?:bookings-2026-11-20\.csv|data\/(?:ledger\.db(?:-wal|-shm)?|spool\/.*|archive\/.*\.csv))$/;

export const traced = ['--log-level', 'trace', '--stack-trace'];

const questions = [
  ['status', day],
  ['show', 'BR-17'],
  ['affected', day],
  ['verify', day],
];

/** A day whose guests all have one name, and commands whose whole output is checked. */
export interface SilentFileDay extends FileDay {
  /** Faults of service and SFTP server. */
  readonly secrets: readonly string[];
  run(...args: string[]): Promise<CommandResult>;
  /** With this secret for the SFTP server. */
  runWith(sftpSecret: string, ...args: string[]): Promise<CommandResult>;
  /** Queries the day in every output format, and checks everything written by then. */
  look(): Promise<void>;
  /** Runs the day as JSON with the most verbose log, then as text, and checks. */
  runAndLook(expectedExit: number): Promise<void>;
  /** Rewrites the configuration, with these settings of `file`. */
  reconfigure(file: Settings): Promise<void>;
}

export async function prepareSilentFileDay(
  server: RunningSftpServer,
  options: FileDayOptions = {},
  changes: Settings = {},
): Promise<SilentFileDay> {
  makeRemoteFolder(server, remoteFolder);
  const prepared = await prepareFileDay(server, { bookings: csv, ...options });
  const { folder } = prepared;
  const { sftp, secret } = secureLogin(server, folder.path);
  const secrets = [...Object.values(serviceSecrets), secret];
  const results: CommandResult[] = [];

  const reconfigure = ({ sftp: others = {}, ...file }: Settings) =>
    folder.configure({
      service: { apiKey: `\${HOTEL_REVIEW_API_KEY}`, accountId: `\${HOTEL_REVIEW_ACCOUNT_ID}` },
      retry: { tries: 2 },
      file: { ...file, sftp: { ...sftp, ...(others as Settings) } },
    });
  await reconfigure(changes);

  async function runWith(sftpSecret: string, ...args: string[]): Promise<CommandResult> {
    const env = { ...serviceSecrets, HOTEL_REVIEW_SFTP_SECRET: sftpSecret };
    const result = await folder.run(args, { env });
    results.push(result);
    return result;
  }
  const run = (...args: string[]) => runWith(secret, ...args);

  function lookAtFile(path: string): void {
    const bytes = readFileSync(path);
    const name = relative(folder.path, path);
    expectSilence(name, [...names, ...secrets]);
    expectSilence(bytes, secrets);
    if (!mayHoldNames.test(name)) expectSilence(bytes, names);
    // Locks have no content, and are in a folder that nobody else may enter.
    if (name.startsWith('data/') && !name.endsWith('.lock'))
      expect([name, modeOf(path)]).toEqual([name, 0o600]);
  }

  async function look(): Promise<void> {
    await Promise.all(questions.map((question) => run(...question)));
    await Promise.all(questions.map((question) => run(...question, '--json', ...traced)));
    for (const { stdout, stderr } of results) expectSilence(`${stdout}${stderr}`, [...names, ...secrets]);
    for (const file of listFiles(folder.path)) lookAtFile(file);
    for (const inner of listFolders(join(folder.path, 'data')))
      expect([inner, modeOf(inner)]).toEqual([inner, 0o700]);
    expect(readdirSync(folder.temporaryFolder)).toEqual([]);
  }

  return {
    ...prepared,
    secrets,
    run,
    runWith,
    look,
    reconfigure,
    async runAndLook(expectedExit) {
      expect((await run('run', '--day', day, '--json', ...traced)).exitCode).toBe(expectedExit);
      expect((await run('run', '--day', day)).exitCode).toBe(expectedExit);
      await look();
    },
  };
}

/** How the command logs in, with its secret in the environment. A key gets a passphrase. */
function secureLogin({ login }: RunningSftpServer, folder: string): { sftp: Settings; secret: string } {
  const variable = `\${HOTEL_REVIEW_SFTP_SECRET}`;
  if (login.password !== undefined) return { sftp: { password: variable }, secret: login.password };
  const passphrase = 'canary-passphrase-3c1d';
  const key = join(folder, 'id');
  copyFileSync(login.privateKeyFile ?? '', key);
  execFileSync('ssh-keygen', ['-q', '-p', '-P', '', '-N', passphrase, '-f', key]);
  return { sftp: { privateKeyFile: key, passphrase: variable }, secret: passphrase };
}

export function expectSilence(text: string | Buffer, words: readonly string[]): void {
  expect(words.filter((word) => text.includes(word))).toEqual([]);
}

const modeOf = (path: string) => statSync(path).mode & 0o777;

export function listFiles(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

function listFolders(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const inner = entries.filter((entry) => entry.isDirectory());
  return [folder, ...inner.map((entry) => join(entry.parentPath, entry.name))];
}
