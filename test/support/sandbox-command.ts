import { once } from 'node:events';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { type CommandResult, callCommand } from './command.js';
import { type ProgramResult, startProgram } from './program.js';

export const command = fileURLToPath(new URL('../../dist/jobs/hotel-review.js', import.meta.url));
const env = { PATH: process.env.PATH };

/** The line that `hotel-review sandbox --json` prints when it is ready; written down here once more. */
export interface Addresses {
  readonly service: { readonly baseUrl: string; readonly apiKey: string; readonly accountId: string };
  readonly sftp: {
    readonly host: string;
    readonly port: number;
    readonly fingerprint: string;
    /** On this disk. */
    readonly root: string;
    readonly username: string;
    readonly password: string;
  };
  readonly outbox: string;
  readonly folder: string;
  readonly configuration: string;
}

/** `hotel-review sandbox` in a process of its own. */
export interface SandboxCommand {
  readonly addresses: Addresses;
  /** What it told so far, a line an event. */
  readonly events: readonly string[];
  /** Waits until it has told that. */
  told(words: string): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<ProgramResult>;
}

/** A temporary folder; it goes with the test. */
export async function createFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'sandbox-command-test-')));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** Starts it and waits until it says where it is. It ends with the test. */
export async function startSandboxCommand(
  folder: string,
  ...options: readonly string[]
): Promise<SandboxCommand> {
  const args = [command, 'sandbox', '--json', '--folder', folder, ...options];
  const program = startProgram(process.execPath, args, { cwd: dirname(folder), env });
  onTestFinished(async () => {
    program.kill('SIGKILL');
    await program.ended;
  });
  await program.until(({ stdout }) => stdout.includes('\n'));
  return {
    addresses: JSON.parse(program.stdout.slice(0, program.stdout.indexOf('\n'))),
    get events() {
      return program.stderr.split('\n').filter((line) => line !== '');
    },
    told: (words) => program.until(({ stderr }) => stderr.includes(words)),
    kill: program.kill,
    ended: program.ended,
  };
}

/** Runs a command in that folder to its end. */
export function runIn(folder: string, ...args: readonly string[]): Promise<CommandResult> {
  const called = callCommand(args, { cwd: folder, env });
  onTestFinished(() => called.stop());
  return called.ended;
}

/** Makes up the tests' day of bookings where `sandbox.yaml` expects it. */
export async function makeDayIn(folder: string, ...options: readonly string[]): Promise<MadeDayReport> {
  const made = ['--day', '2026-11-20', '--out', join(folder, 'bookings-2026-11-20.csv'), ...options];
  const { json, stderr } = await runIn(folder, 'sandbox', 'bookings', ...made, '--json');
  if (json === undefined) throw new Error(`no day was made up: ${stderr}`);
  return json as MadeDayReport;
}

/** Where the tests' day lies on the SFTP server. */
export const reviewPath = 'VerifyMappings/112026/20112026.csv';

/** A review file of one booking, which no world knows. */
export function renderReviewFile(guest = 'Ana'): string {
  return [
    'Service Mappings Id,BookingReferenceId,BookingClientName,ProviderName,ProviderHotelId,CheckInDate,CheckOutDate',
    `17,BR-1,${guest},Roomly,R-9,20112026,22112026`,
    '',
  ].join('\n');
}

/** Puts a review file under the SFTP root without SFTP. */
export async function putReviewFile({ sftp }: Addresses, text: string): Promise<void> {
  const path = join(sftp.root, reviewPath);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

/** Calls one of the review operations: that of the body when there is one. */
export function callService(
  { service: { baseUrl, apiKey: apikey, accountId } }: Addresses,
  hotels?: readonly object[],
): Promise<Response> {
  const headers = { apikey, accountId };
  if (hotels === undefined)
    return fetch(`${baseUrl}/hotels/ReviewMappingsOfBookedHotelsByFile?ftpFilePath=${reviewPath}`, {
      headers,
    });
  return fetch(`${baseUrl}/hotels/ReviewMappingsOfBookedHotels`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify({ Hotels: hotels }),
  });
}

/** How many bookings its calls brought, and how many of those that came by body are wrongly mapped, as it told. */
export function sumTold({ events }: SandboxCommand): { readonly accepted: number; readonly wrong: number } {
  const sum = (expression: RegExp) =>
    events.map((line) => Number(expression.exec(line)?.[1] ?? 0)).reduce((total, count) => total + count, 0);
  return {
    accepted: sum(/: 200 2000, (\d+) bookings? accepted/),
    wrong: sum(/ accepted, (\d+) wrongly mapped/),
  };
}

/** Listens there until the test ends, so that nobody else does. */
export async function occupy(port: number): Promise<number> {
  const server = createServer().listen(port, '127.0.0.1');
  onTestFinished(() => {
    server.close();
  });
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** What `hotel-review sandbox bookings --out FILE --json` says of a day. */
export interface MadeDayReport {
  readonly records: number;
  readonly bookings: number;
  readonly rejected: number;
  readonly unfitForFile: number;
  readonly wrongMappings: number;
  readonly wrongUnfitForFile: number;
  readonly wrongReferences: readonly string[];
}
