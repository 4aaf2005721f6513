import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';
import { captureIo, toStdin } from './command-io.js';
import { patienceMs } from './patience.js';
import { type ProgramOptions, type ProgramResult, type RunningProgram, startProgram } from './program.js';

const command = fileURLToPath(new URL('../../dist/jobs/hotel-review.js', import.meta.url));
const builtMain = new URL('../../dist/jobs/main.js', import.meta.url).href;

/** The closing JSON as it must be. Repeated here so that the tests don't follow the code. */
export interface ClosingReport {
  readonly runId: string;
  readonly day: string;
  readonly delivery: string;
  readonly trigger: string;
  readonly state: string;
  readonly counts: Readonly<Record<CountName, number>>;
  readonly file: null;
  readonly startedAt: string;
  readonly finishedAt: string | null;
  readonly durationMs: number;
  readonly error?: { readonly class: string; readonly message: string };
}

export type CountName =
  | 'read'
  | 'accepted'
  | 'duplicates'
  | 'rejected'
  | 'filtered'
  | 'delivered'
  | 'refused'
  | 'pending'
  | 'carried'
  | 'repeated'
  | 'posted'
  | 'affected'
  | 'unanswered';

/** How a command ended and what it wrote. */
export interface CommandResult extends ProgramResult {
  /** The last line of standard output as JSON; undefined when it is not JSON. */
  readonly json: unknown;
  /** The same as the closing report of a run. @throws Error when it is not one */
  readonly report: ClosingReport;
}

/** A command that was called in this process and may still be running. */
export interface CalledCommand {
  readonly ended: Promise<CommandResult>;
  readonly hasEnded: boolean;
  /** What it has written to standard error so far. */
  readonly stderr: string;
  /** Asks it to stop, as the signal would; SIGINT by default. */
  stop(signal?: 'SIGINT' | 'SIGTERM'): void;
  /** Waits until it has written this text to standard error. @throws Error when it ends first */
  wrote(text: string): Promise<void>;
}

/** A command that was started and may still be running. */
export interface RunningCommand extends Omit<RunningProgram, 'ended'> {
  readonly ended: Promise<CommandResult>;
  /** Waits until it has written this text to standard error. @throws Error when it ends first */
  wrote(text: string): Promise<void>;
}

/** Variables that Node or a library reads from the process itself instead of from the command's arguments. */
const ofProcess = /^(?:NODE_|LD_|AWS_(?:EC2|SHARED|PROFILE|CONFIG))/;

export interface CallOptions extends ProgramOptions {
  readonly temporaryFolder?: string;
  /** What it reads from standard input. */
  readonly input?: string | undefined;
}

/**
 * Calls `hotel-review` as a function, which takes a fraction of the time of a process. For tests that need no real
 * process: no kill, no pipe, no memory limit, no second owner of the same day.
 */
export function callCommand(
  args: readonly string[],
  { cwd, env, temporaryFolder, input }: CallOptions,
): CalledCommand {
  const lost = Object.keys(env).filter((name) => ofProcess.test(name));
  if (lost.length > 0) throw new Error(`only a process of its own can be given ${lost.join(', ')}`);
  const stopping = new AbortController();
  const { io, stdout, stderr } = captureIo({
    cwd,
    env,
    ...(env.TZ !== undefined && { timeZone: env.TZ }),
    signal: stopping.signal,
    ...(temporaryFolder !== undefined && { temporaryFolder }),
    ...(input !== undefined && { stdin: toStdin(input) }),
  });
  const command = import(builtMain) as Promise<typeof import('../../jobs/main.js')>;
  let hasEnded = false;
  const run = async (): Promise<CommandResult> => {
    const { main } = await command;
    try {
      return toResult({
        exitCode: await main(args, io),
        signal: null,
        stdout: stdout.text(),
        stderr: stderr.text(),
      });
    } finally {
      hasEnded = true;
    }
  };
  return {
    ended: run(),
    get hasEnded() {
      return hasEnded;
    },
    get stderr() {
      return stderr.text();
    },
    stop: (signal = 'SIGINT') =>
      void command.then(({ StoppedError }) => stopping.abort(new StoppedError(signal))),
    async wrote(text) {
      const isDone = () => stderr.text().includes(text) || hasEnded;
      await vi.waitUntil(isDone, { timeout: patienceMs, interval: 5 });
      if (!stderr.text().includes(text))
        throw new Error(`it ended without writing ${text}, but: ${stderr.text()}`);
    },
  };
}

/** Starts `hotel-review` as a user does: the built command in its own process. */
export function startCommand(args: readonly string[], options: ProgramOptions): RunningCommand {
  const program = startProgram(process.execPath, [command, ...args], options);
  return Object.assign(Object.create(program) as typeof program, {
    ended: program.ended.then(toResult),
    wrote: (text: string) => program.until(({ stderr }) => stderr.includes(text)),
  });
}

function toResult(ending: ProgramResult): CommandResult {
  const json = parseLastLine(ending.stdout);
  return {
    ...ending,
    json,
    get report() {
      if (isReport(json)) return json;
      throw new Error(
        `expected a closing report, got exit ${ending.exitCode}, ${ending.stdout}\n${ending.stderr}`,
      );
    },
  };
}

function parseLastLine(text: string): unknown {
  try {
    return JSON.parse(text.trimEnd().split('\n').at(-1) ?? '');
  } catch {
    return undefined;
  }
}

function isReport(json: unknown): json is ClosingReport {
  return typeof json === 'object' && json !== null && 'runId' in json && 'counts' in json;
}
