import { canaryBatch } from '../canary.js';
import type { Judged } from '../verdict.js';
import type { JoinedResult } from './result-join.js';

/** A result without its row about the canary, which is not a booking. */
export interface ResultWithoutCanary extends Omit<JoinedResult, 'judge'> {
  /** What it says about the canary; absent where none was in the file. */
  readonly canary?: Judged | 'correct';
}

/**
 * Takes the canary out of a result that was joined with all lines of the file. The numbers are then those of bookings; rows
 * stay as they are.
 *
 * @param line the canary's line in the file, with its line end
 */
export function takeOutCanary(
  { judge, findJudged, ...totals }: JoinedResult,
  line: Buffer | undefined,
): ResultWithoutCanary {
  if (!line) return { ...totals, findJudged };
  const places = judge(line);
  const judgements = ['incorrect', 'not-in-result', 'unclear'] as const;
  const canary = judgements.find((judged) => places[judged].length > 0) ?? 'correct';
  return {
    ...totals,
    sent: totals.sent - 1,
    unanswered: totals.unanswered - (canary === 'not-in-result' ? 1 : 0),
    canary,
    async *findJudged() {
      for await (const found of findJudged()) if (found.batch !== canaryBatch) yield found;
    },
  };
}
