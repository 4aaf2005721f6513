import { describe, expect, it } from 'vitest';
import { canaryBatch } from '../../../src/review/canary.js';
import { takeOutCanary } from '../../../src/review/file/result-canary.js';
import { fileBooking, fileOf, joinResult, linesOf, masterIdColumn } from './file-bookings.js';
import { fileBookings } from './file-run.js';

const bookings = fileBookings(4);
const canary = fileBooking({
  ...{ serviceId: 1, bookingReferenceId: 'CANARY-r1', providerName: 'X', providerHotelId: '1' },
});
const canaryLine = linesOf([canary]);

/** The file with a verdict on each row, or in another order. */
function resultOf(verdicts: readonly string[], turn: (rows: string[]) => string[] = (rows) => rows): Buffer {
  const [header = '', ...rows] = fileOf([...bookings, canary])
    .toString()
    .trimEnd()
    .split('\n');
  const judged = rows.flatMap((row, at) => (verdicts[at] === undefined ? [] : [`${row},${verdicts[at]}`]));
  return Buffer.from(`${[`${header},IsCorrectMapping`, ...turn(judged)].join('\n')}\n`);
}

async function join(result: Buffer) {
  const joined = await joinResult(
    {
      async *readSent() {
        yield { batch: 0, lines: linesOf(bookings.slice(0, 2)) };
        yield { batch: 1, lines: linesOf(bookings.slice(2)) };
        yield { batch: canaryBatch, lines: canaryLine };
      },
      async *readBytes() {
        yield result;
      },
    },
    { masterIdColumn },
  );
  const { findJudged, ...totals } = takeOutCanary(joined, canaryLine);
  const judged = [];
  for await (const places of findJudged()) judged.push(places);
  return { ...totals, judged };
}

const verdict = { batch: 0, judged: 'incorrect', places: [1] };

describe('a result with a row about the canary', () => {
  it.each([
    ['repeats the file', (rows: string[]) => rows],
    ['has another order', (rows: string[]) => rows.toReversed()],
  ])('that %s says the same about the bookings, and names the canary', async (_, turn) => {
    expect(await join(resultOf(['True', 'False', 'True', 'True', 'False'], turn))).toMatchObject({
      ...{ sent: 4, unanswered: 0, foreign: 0, canary: 'incorrect', judged: [verdict] },
    });
    expect(await join(resultOf(['True', 'False', 'True', 'True', 'True'], turn))).toMatchObject({
      ...{ sent: 4, unanswered: 0, foreign: 0, canary: 'correct', judged: [verdict] },
    });
  });

  it('without that row still answers every booking', async () => {
    expect(await join(resultOf(['True', 'False', 'True', 'True']))).toMatchObject({
      ...{ sent: 4, unanswered: 0, foreign: 0, canary: 'not-in-result', judged: [verdict] },
    });
  });

  it('that lacks a booking has no verdict on it, whatever it says about the canary', async () => {
    const rows = ['True', 'False', 'True', 'True', 'False'];
    const result = await join(resultOf(rows, (all) => all.filter((row) => !row.includes('BR-3'))));
    expect(result).toMatchObject({
      ...{ sent: 4, unanswered: 1, canary: 'incorrect' },
      judged: [verdict, { batch: 1, judged: 'not-in-result', places: [1] }],
    });
  });
});
