import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface MeasuredOptions {
  readonly cwd?: string;
  /** The whole environment; default: that of this process. */
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string;
  readonly expectedExitCode?: number;
}

export interface MeasuredProcess {
  /** From the start until it has exited and closed its output. */
  readonly wallSeconds: number;
  /** User and system time of the process and of the children that it waited for. */
  readonly cpuSeconds: number;
  /** Peak resident memory of the largest process among it and its children. */
  readonly peakMb: number;
  readonly stdout: string;
  readonly stderr: string;
}

const gnuTime = '/usr/bin/time';
const shownOfErrors = 2_000;

/** Why processes cannot be measured on this machine, and how to fix it; undefined when they can. */
export function findTimeObstacle(): string | undefined {
  try {
    execFileSync(gnuTime, ['-f', '%M', 'true'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return `needs GNU time as ${gnuTime}: apt-get install time`;
  }
}

/**
 * Runs a command to its end in its own process under GNU time.
 *
 * @throws Error with the end of its standard error when its exit code is not the expected one
 */
export async function measureProcess(
  command: readonly string[],
  { cwd, env, input = '', expectedExitCode = 0 }: MeasuredOptions = {},
): Promise<MeasuredProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'hotel-review-time-'));
  try {
    const figures = join(folder, 'figures');
    const started = performance.now();
    const child = spawn(gnuTime, ['-q', '-f', '%U %S %M', '-o', figures, ...command], {
      ...(cwd !== undefined && { cwd }),
      ...(env !== undefined && { env }),
    });
    const [stdout, stderr] = [gather(child.stdout), gather(child.stderr)];
    // It may exit without reading.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    const [exitCode, signal] = await once(child, 'close');
    const wallSeconds = (performance.now() - started) / 1000;
    if (exitCode !== expectedExitCode) {
      const how = signal === null ? `exit code ${exitCode}` : `signal ${signal}`;
      throw new Error(
        `${command.join(' ')}: ended with ${how}, expected ${expectedExitCode}: ${stderr().slice(-shownOfErrors)}`,
      );
    }
    const [user, system, peakKb] = (await readFile(figures, 'utf8')).trim().split(' ').map(Number);
    if (user === undefined || system === undefined || peakKb === undefined)
      throw new Error(`${command.join(' ')}: GNU time wrote no figures`);
    return {
      wallSeconds,
      cpuSeconds: user + system,
      peakMb: peakKb / 1024,
      stdout: stdout(),
      stderr: stderr(),
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}

function gather(stream: NodeJS.ReadableStream): () => string {
  let text = '';
  stream.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  return () => text;
}
