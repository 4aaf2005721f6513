import { hasUnexpectedCount, isToBeAccepted, type Run } from '../src/rules/run.js';

/** The exit codes, as documented for the command. */
export const exitCode = {
  done: 0,
  failed: 1,
  usage: 2,
  resultPending: 3,
  busy: 4,
  toBeAccepted: 5,
} as const;

export type ExitCode = (typeof exitCode)[keyof typeof exitCode];

/** The exit code for the state of a run. */
export function exitCodeOf(run: Run): ExitCode {
  switch (run.state) {
    case 'succeeded':
      if (hasUnexpectedCount(run)) return exitCode.failed;
      return isToBeAccepted(run) ? exitCode.toBeAccepted : exitCode.done;
    case 'awaiting-result':
      return exitCode.resultPending;
    case 'collecting':
    case 'delivering':
    case 'failed':
    case 'cancelled':
      return exitCode.failed;
  }
}

/** Most urgent first. */
const fromWorst: readonly ExitCode[] = [
  exitCode.usage,
  exitCode.failed,
  exitCode.busy,
  exitCode.resultPending,
  exitCode.toBeAccepted,
  exitCode.done,
];

/** The exit code of several days: that of the worst, 2 before 1 before 4 before 3 before 5 before 0. */
export function worstOf(codes: readonly ExitCode[]): ExitCode {
  return fromWorst.find((code) => codes.includes(code)) ?? exitCode.done;
}
