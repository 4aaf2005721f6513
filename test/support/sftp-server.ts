import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** A real SFTP server of this machine, configured to be started by tests. */
export interface SftpServerKind {
  readonly name: string;
  /** What is missing on this machine, and how to install it. */
  readonly needs: string | undefined;
  /** Whether it offers posix-rename. */
  readonly replacesInOneStep: boolean;
  /** Whether it offers statvfs, which says how much of its disk is free. */
  readonly reportsFreeSpace: boolean;
  start(): Promise<RunningSftpServer>;
}

export interface RunningSftpServer {
  readonly port: number;
  readonly login: SftpLogin;
  /** The root of the sessions: where the served folder is from the server's point of view. */
  readonly root: string;
  /** Those of all its host keys, as `ssh-keygen -l` prints them. */
  readonly fingerprints: readonly string[];
  /** A temporary folder for keys and the like. */
  readonly folder: string;
  /** A path of the served folder on this machine's disk. */
  disk(path: string): string;
  /** Freezes the processes that serve the open sessions; returns how many. */
  freezeSessions(): Promise<number>;
  stop(): Promise<void>;
}

export interface SftpLogin {
  readonly username: string;
  readonly password?: string;
  readonly privateKeyFile?: string;
}

export const runsAsRoot = process.getuid?.() === 0;

/** Root may do everything, so where the tests run as root, the sessions run as nobody. */
export const sessionUser = runsAsRoot
  ? { name: 'nobody', uid: 65534, gid: 65534 }
  : { name: execFileSync('id', ['-un'], { encoding: 'utf8' }).trim(), ...ownIds() };

function ownIds(): { uid: number; gid: number } {
  return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
}

/** A temporary folder that contains the served one, `files`. */
export function makeServerFolder(): { folder: string; files: string } {
  const folder = mkdtempSync(join(tmpdir(), 'sftp-'));
  chmodSync(folder, 0o755);
  const files = join(folder, 'files');
  mkdirSync(files);
  chownSync(files, sessionUser.uid, sessionUser.gid);
  return { folder, files };
}

export function makeKey(file: string, type: string, passphrase = ''): string {
  execFileSync('ssh-keygen', ['-q', '-t', type, '-N', passphrase, '-f', file]);
  return file;
}

export function fingerprintOf(keyFile: string): string {
  const line = execFileSync('ssh-keygen', ['-l', '-f', keyFile], { encoding: 'utf8' });
  return line.split(' ')[1] ?? '';
}

/**
 * Below the range from which the system assigns ports. Nobody listens there, and no other test process finds the same one:
 * a UDP socket of that number is kept for as long as this process lives.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    if (!(await hasReserved(port))) continue;
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch {
      continue;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
}

async function hasReserved(port: number): Promise<boolean> {
  const reservation = createSocket('udp4').unref();
  try {
    reservation.bind(port, '127.0.0.1');
    await once(reservation, 'listening');
    return true;
  } catch {
    reservation.close();
    return false;
  }
}

/** Starts a server that ends with this process, even if nobody stops it. */
export function spawnServer(command: string, args: readonly string[]): ChildProcess {
  const server = spawn(command, args, { stdio: 'ignore' });
  const kill = () => server.kill('SIGKILL');
  process.once('exit', kill);
  server.once('exit', () => process.removeListener('exit', kill));
  return server;
}

/** Waits until a started server sends its greeting, or fails with the reason from its log. */
export async function awaitGreeting(port: number, server: ChildProcess, log: () => string): Promise<void> {
  await until(async () => {
    if (server.exitCode !== null) throw new Error(`the SFTP server ended: ${log()}`);
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'data');
      return true;
    } catch {
      return false;
    } finally {
      socket.destroy();
    }
  });
}

/** Freezes processes, as a debugger or a suspended machine does; SIGCONT thaws them. */
export async function freeze(...pids: readonly number[]): Promise<void> {
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  await until(async () => pids.every((pid) => statusOf(pid)?.state === 'T'));
}

export async function freezeDescendants(pid: number | undefined): Promise<number> {
  const sessions = descendantsOf(pid);
  await freeze(...sessions);
  return sessions.length;
}

/** Polls without vitest's help: benchmarks start these servers too. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await pause(10);
}

/** Ends a server with its sessions, frozen or not, and removes its folder. */
export async function stopServer(server: ChildProcess, folder: string): Promise<void> {
  const ended = server.exitCode === null && server.signalCode === null ? once(server, 'exit') : undefined;
  for (const session of descendantsOf(server.pid)) killIfThere(session);
  server.kill('SIGKILL');
  await ended;
  rmSync(folder, { recursive: true, force: true });
}

/** A session may end by itself meanwhile. */
function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

function descendantsOf(pid: number | undefined): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    const parent = /^\d+$/.test(name) ? statusOf(Number(name))?.parent : undefined;
    if (parent !== undefined) parents.set(Number(name), parent);
  }
  const isBelow = (process: number): boolean => {
    const parent = parents.get(process);
    return parent !== undefined && (parent === pid || isBelow(parent));
  };
  return [...parents.keys()].filter(isBelow);
}

/** From /proc; undefined when the process has ended. */
function statusOf(pid: number): { state: string; parent: number } | undefined {
  try {
    const [state = '', parent = ''] =
      readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? [];
    return { state, parent: Number(parent) };
  } catch {
    return undefined;
  }
}
