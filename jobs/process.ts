import { homedir, tmpdir, userInfo } from 'node:os';
import packageJson from '../package.json' with { type: 'json' };
import { exitOnceWritten, listenForStop, outliveOutput } from '../src/base/stop-signals.js';
import { exitCode } from './exit-code.js';

/** This program's version, as its package says. */
export const version: string = packageJson.version;

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
