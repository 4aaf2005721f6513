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

/**
 * What a list can say of a day. `answered`: it says what is known, and that the rest is not, for example because verdicts come by e-mail.
 * `awaited`: its answer is in a result that is still to come. `unanswered`: in one that does not come unless the failed run goes on.
 */
export type ListAnswer = 'answered' | 'awaited' | 'unanswered' | 'no-run';

/** The exit code of a list of bookings or records, whichever it is. */
export function exitCodeOfList(answer: ListAnswer): ExitCode {
  switch (answer) {
    case 'answered':
      return exitCode.done;
    case 'awaited':
      return exitCode.resultPending;
    case 'unanswered':
    case 'no-run':
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
