import { once } from 'node:events';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { type CommandResult, callCommand } from './command.js';
import { type ProgramResult, startProgram } from './program.js';

export const command = fileURLToPath(new URL('../../dist/jobs/hotel-review.js', import.meta.url));
const env = { PATH: process.env.PATH };

/** The line that `hotel-review sandbox --json` prints when it is ready. Repeated here on purpose. */
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

/** A running `hotel-review sandbox`. */
export interface SandboxCommand {
  readonly addresses: Addresses;
  /** The events written so far, one line each. */
  readonly events: readonly string[];
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<ProgramResult>;
}

/** A temporary folder, removed when the test ends. */
export async function createFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'sandbox-command-test-')));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** Starts the sandbox as a process and waits for its addresses. It is killed when the test ends. */
export async function startSandboxCommand(
  folder: string,
  ...options: readonly string[]
): Promise<SandboxCommand> {
  const args = ['sandbox', '--json', '--folder', folder, ...options];
  const program = startProgram(process.execPath, [command, ...args], { cwd: dirname(folder), env });
  onTestFinished(async () => {
    program.kill('SIGKILL');
    await program.ended;
  });
  await program.until(({ stdout }) => stdout.includes('\n'));
  return {
    addresses: JSON.parse(program.stdout.split('\n')[0] ?? ''),
    get events() {
      return program.stderr.split('\n').filter((line) => line !== '');
    },
    kill: program.kill,
    ended: program.ended,
  };
}

/** Calls a command in this folder and waits for its end. */
export function runIn(folder: string, ...args: readonly string[]): Promise<CommandResult> {
  const called = callCommand(args, { cwd: folder, env });
  onTestFinished(() => called.stop());
  return called.ended;
}

/** Makes up the tests' day of bookings where `sandbox.yaml` looks for it. */
export async function makeDayIn(folder: string, ...options: readonly string[]): Promise<MadeDayReport> {
  const made = ['--day', '2026-11-20', '--out', join(folder, 'bookings-2026-11-20.csv'), ...options];
  const { json, stderr } = await runIn(folder, 'sandbox', 'bookings', ...made, '--json');
  if (json === undefined) throw new Error(`expected a made-up day, got: ${stderr}`);
  return json as MadeDayReport;
}

/** Sums up the events: bookings accepted, and wrong mappings among those accepted by body. */
export function sumTold({ events }: SandboxCommand): { readonly accepted: number; readonly wrong: number } {
  const sum = (expression: RegExp) =>
    events.map((line) => Number(expression.exec(line)?.[1] ?? 0)).reduce((total, count) => total + count, 0);
  return {
    accepted: sum(/: 200 2000, (\d+) bookings? accepted/),
    wrong: sum(/ accepted, (\d+) wrongly mapped/),
  };
}

/** The report of `hotel-review sandbox bookings --out FILE --json`. */
export interface MadeDayReport {
  readonly records: number;
  readonly bookings: number;
  readonly rejected: number;
  readonly unfitForFile: number;
  readonly wrongMappings: number;
  readonly wrongUnfitForFile: number;
  readonly wrongReferences: readonly string[];
}

/** Whether this port accepts connections on this machine. */
export async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
