import type { Claimed, Evidence, Findings, StepEnding } from '../../src/review/step.js';
import type { JudgedPlaces } from '../../src/review/verdict.js';
import type { PlannedRun } from './planned-runs.js';

const sha256 = 'c0ffee'.padEnd(64, '0');
const accepted: Evidence = { code: 'accepted', httpStatus: 200, statusCode: 2000, answer: 'Success', sha256 };
const refused: Evidence = {
  ...{ code: 'invalid-hotel-data', httpStatus: 200, statusCode: 2009, sha256 },
  answer: 'Invalid hotel data in row 3',
};
const unavailable: Evidence = { code: 'http-503', httpStatus: 503, sha256 };
/** Of the steps by body that do not go well. */
const everyTwentieth = 20;

/** How an attempt ends, as if with a real service and server. */
export function endingOf(
  planned: PlannedRun,
  { step, attempt }: Claimed,
  { batches, bookings }: { readonly batches: number; readonly bookings: number },
  at: number,
): StepEnding {
  if (step.kind === 'batch') return endingOfBatch(planned, Number(step.slice?.batch), attempt, at);
  return { kind: 'done', ...findingsOf(planned, step.kind, { batches, bookings }, at) };
}

function endingOfBatch({ shape }: PlannedRun, batch: number, attempt: number, at: number): StepEnding {
  if (shape === 'failing') return { kind: 'failed', evidence: unavailable };
  if (shape !== 'many-batches') return { kind: 'done', evidence: accepted };
  if (batch % everyTwentieth === 1) return { kind: 'refused', evidence: refused };
  if (batch % everyTwentieth === 2 && attempt === 1)
    return { kind: 'retry', evidence: unavailable, notBefore: at, spendsTry: true, outcomeUnknown: false };
  return { kind: 'done', evidence: accepted };
}

function findingsOf(
  { day, shape }: PlannedRun,
  kind: Exclude<Claimed['step']['kind'], 'batch'>,
  { batches, bookings }: { readonly batches: number; readonly bookings: number },
  at: number,
): Findings {
  const name = `${day}.csv`;
  const evidence: Evidence = { code: kind, sha256 };
  switch (kind) {
    case 'write':
      return {
        evidence,
        file: { rows: bookings, bytes: bookings * 80, sha256, remotePath: `VerifyMappings/${name}` },
      };
    case 'upload':
      return { evidence, file: { uploaded: { name, size: bookings * 80, modifiedAt: at } } };
    case 'trigger':
      return { evidence: accepted, file: { triggeredAt: at } };
    case 'await-result': {
      const verdicts = judge(batches, shape === 'long-lists');
      const count = (judged: JudgedPlaces['judged']) =>
        verdicts.reduce((sum, one) => sum + (one.judged === judged ? one.places.length : 0), 0);
      return {
        evidence,
        verdicts,
        file: {
          result: {
            name: `${day}_Result.csv`,
            size: 1,
            modifiedAt: at,
            sha256,
            rows: bookings,
            isWhole: true,
          },
          verdicts: {
            ...{ affected: count('incorrect'), unanswered: count('not-in-result') },
            ...{ unclear: 0, malformed: 0, listsUnanswered: true },
          },
        },
      };
    }
    case 'archive':
      return { evidence, file: { archivedTo: `archive/${day}` } };
    case 'canary':
      return { evidence };
  }
}

/** A few in each batch, or hundreds where lists are to be long. */
function judge(batches: number, isLong: boolean): readonly JudgedPlaces[] {
  // The last batch may hold a single booking.
  return Array.from({ length: isLong ? batches - 1 : 1 }, (_, batch): readonly JudgedPlaces[] => [
    { batch, judged: 'incorrect', places: range(0, isLong ? 300 : 3) },
    { batch, judged: 'not-in-result', places: range(300, isLong ? 400 : 301) },
  ]).flat();
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}
