import { homedir, hostname, tmpdir, userInfo } from 'node:os';
import type { Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import packageJson from '../package.json' with { type: 'json' };
import { print } from '../src/base/foreign-text.js';
import { StoppedError } from '../src/base/safe-error.js';
import { random } from './clock.js';
import { exitCode } from './exit-code.js';

/** This program's version, as its package says. */
export const version: string = packageJson.version;

/** Put in by bundle.js: the commit and its date. Absent where the source is run without a build. */
declare const builtFrom: string | undefined;

/** The version and what it was built from, for people who compare installations. */
export const build = `${version} (${typeof builtFrom === 'string' ? builtFrom : 'not built'})`;

/** All that a command uses of the process it runs in. */
export interface CommandIo {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WriteStream;
  /** Why some of standard output was lost, such as `ENOSPC`; undefined if nothing was. */
  readonly findLostOutput: () => Promise<string | undefined>;
  readonly env: NodeJS.ProcessEnv;
  /** The file with which the process was started. */
  readonly script?: string | undefined;
  /** Relative paths on the command line resolve against it. */
  readonly cwd: string;
  /** The name of the operating system's user, for the audit trail. */
  readonly user: string;
  /** The machine's name. */
  readonly host: string;
  /** Names the process wherever several work together: see `nameProcess`. */
  readonly worker: string;
  readonly temporaryFolder: string;
  /** The machine's. */
  readonly timeZone: string;
  /** Aborts when the process is asked to stop. */
  readonly signal: AbortSignal;
  /** Aborts right before the process ends at once: listeners can write, but not wait. */
  readonly halted: AbortSignal;
}

/** Runs a command as this process: its signals, its streams, its exit code. */
export async function runAsProcess(command: (io: CommandIo) => Promise<number>): Promise<void> {
  const { stdin, stdout, stderr, env } = process;
  const stop = listenForStop(process, stderr, exitCode.failed);
  outliveOutput(stderr);
  const findLostOutput = outliveOutput(stdout);
  // The AWS SDK's notice about Node versions is meant for developers; operators would get it every night.
  env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
  const code = await command({
    stdin,
    stdout,
    stderr,
    findLostOutput,
    env,
    script: process.argv[1],
    cwd: process.cwd(),
    user: nameUser(env),
    host: hostname(),
    worker: nameProcess(hostname(), process.pid, random),
    temporaryFolder: tmpdir(),
    // Not read at once: the first use of `Intl` takes longer than most commands.
    get timeZone() {
      return new Intl.DateTimeFormat().resolvedOptions().timeZone;
    },
    signal: stop.signal,
    halted: stop.halted,
  });
  process.exitCode = code;
  stop.end(code);
  // Output that nobody reads would keep the process alive; someone who pressed Ctrl-C must not wait for that.
  if (stop.signal.aborted) process.exit();
  exitOnceWritten([stdout, stderr], () => process.exit());
}

/** PostgreSQL cuts the name of a connection after 63 bytes. */
const longestHost = 30;

/**
 * Names a process in attempts, log lines and connections: its host, its number, and letters, because in containers the first two are
 * often the same again.
 */
export function nameProcess(host: string, pid: number, random: () => number): string {
  const letters = Math.floor(random() * 36 ** 4).toString(36);
  return `${host.replaceAll(/[^\w.-]/g, '-').slice(0, longestHost)}-${pid}-${letters.padStart(4, '0')}`;
}

/** @returns undefined for a container's user without a name, if HOME is not set either */
export function findHome(ask = homedir): string | undefined {
  try {
    return ask();
  } catch {
    return undefined;
  }
}

/** Who started this process. With sudo that is the person, not the account that the command runs as. */
function nameUser({ SUDO_USER: person }: NodeJS.ProcessEnv): string {
  const account = nameAccount();
  return person === undefined || person === account ? account : `${account} (sudo by ${person})`;
}

function nameAccount(): string {
  try {
    return userInfo().username;
  } catch {
    // A container's user may have no name.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

const stopSignals = ['SIGINT', 'SIGTERM'] as const;

/** The part of the process that this uses. */
interface Process {
  on(signal: 'SIGINT' | 'SIGTERM', listener: (name: NodeJS.Signals) => void): unknown;
  exit(code: number): void;
}

/**
 * One AbortSignal for the whole process: Ctrl-C and SIGTERM stop it cleanly, a second signal at once.
 *
 * @param haltedCode what the process exits with then
 */
export function listenForStop(process: Process, errors: NodeJS.WritableStream, haltedCode: number) {
  const controller = new AbortController();
  const halt = new AbortController();
  let ended: number | undefined;
  const stop = (name: NodeJS.Signals) => {
    if (ended !== undefined) return process.exit(ended);
    if (controller.signal.aborted) {
      halt.abort(new StoppedError(name));
      return process.exit(haltedCode);
    }
    print(errors, `\n${name}: stopping; send the signal again to stop at once\n`);
    controller.abort(new StoppedError(name));
  };
  for (const name of stopSignals) process.on(name, stop);
  return {
    /** Aborts when the process is asked to stop. */
    signal: controller.signal,
    /** Aborts right before a second signal ends the process: its listeners can write, but not wait. */
    halted: halt.signal,
    /** The command has ended with this code: from now on a signal ends the process with the same code, at once. */
    end(code: number): void {
      ended = code;
    },
  };
}

/**
 * Lets a command do its work although its output can't be written, as when the disk is full. If the reader is gone (as with `head`),
 * nobody needs the rest.
 *
 * @returns why something is lost that somebody may need, once it is known; undefined for nothing
 */
function outliveOutput(stream: NodeJS.WritableStream): () => Promise<string | undefined> {
  let lost: string | undefined;
  stream.on('error', ({ code = 'unknown' }: NodeJS.ErrnoException) => {
    if (code !== 'EPIPE') lost ??= code;
  });
  return async () => {
    // A stream reports what it could not write soon after.
    await setImmediate();
    return lost;
  };
}

/** Long enough for everything that ends by itself. */
const graceMs = 1_000;

/**
 * Ends the process once its work is done, even if something keeps it alive, such as a connection that a bookings module
 * left open. Otherwise tomorrow's run would find today's process still running. Waits until all output has been written.
 *
 * @param exit ends the process with `process.exitCode`
 */
function exitOnceWritten(streams: readonly Writable[], exit: () => void): void {
  // Unreferenced, so that the timer itself keeps nothing alive.
  setInterval(() => {
    if (streams.every(({ writableLength }) => writableLength === 0)) exit();
  }, graceMs).unref();
}
