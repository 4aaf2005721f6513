import { createReports } from '../src/text/reports.js';
import { print } from '../src/text/visible.js';
import { execute } from './execute.js';
import { exitCode } from './exit-code.js';
import { describeFailure, stackFrames } from './failure.js';
import type { CommandIo } from './process.js';
import { readCommandLine } from './program.js';
import { version } from './version.js';

/** The reason that `io.signal` aborts with. */
export { StoppedError } from '../src/async/stopped-error.js';

/**
 * The command `hotel-review` as a function: it reads the command line, does the job, and returns the exit code. Importing
 * it has no effects, and it uses nothing of the process except what `io` holds.
 */
export async function main(argv: readonly string[], io: CommandIo): Promise<number> {
  const { stdout, stderr, halted } = io;
  const reports = createReports(stdout, argv.includes('--json'));
  const halt = () =>
    reports.fail({ class: 'stopped', message: 'stopped at once; the ledger knows what is left' });
  halted.addEventListener('abort', halt, { once: true });
  try {
    const running = { io, reports };
    const output = {
      writeOut: (text: string) => void print(stdout, text),
      writeErr: (text: string) => void print(stderr, text),
    };
    const typed = await readCommandLine(argv, version, output);
    if (typed === undefined) return exitCode.done;
    return await execute(typed.command, typed.input, typed.globals, running);
  } catch (error) {
    const failure = describeFailure(error);
    print(stderr, `hotel-review: ${failure.message}\n`);
    if (argv.includes('--stack-trace')) print(stderr, `${stackFrames(error)}\n`);
    reports.fail(failure);
    return failure.exitCode;
  } finally {
    halted.removeEventListener('abort', halt);
  }
}
