import { describe, expect, it } from 'vitest';
import type { ExtraColumns } from '../../../src/ledger/batches.js';
import type { ReadOnlyLedger } from '../../../src/ledger/ledger.js';
import type { ListName } from '../../../src/review/lists/listed-lines.js';
import { type BookingList, type ListedBooking, listBookings } from '../../../src/review/lists/listing.js';
import { alone } from '../../../src/rules/day-outcome.js';
import { type Judged, stillCounts } from '../../../src/rules/review-file.js';
import type { Run } from '../../../src/rules/run.js';
import { toLines } from '../../contracts/ledger/days.js';
import { fakeLedger, withReplaced } from '../../support/fake-ledger.js';
import { someRun } from '../some-run.js';

const verdicts = { affected: 3, unanswered: 1, unclear: 1, malformed: 0, listsUnanswered: true } as const;

function toLine(reference: string, checkIn: string, hotel = '00123', checkOut = '31122027'): string {
  return `7,${reference},"Lovelace, Ana",hotelbeds,${hotel},${checkIn},${checkOut}`;
}

/** Per run and verdict, the lines of each batch. */
type Judgements = Readonly<Record<string, Partial<Record<Judged | 'file', readonly (readonly string[])[]>>>>;

function openLedger(
  judgements: Judgements,
  extra: Readonly<Record<string, readonly (ExtraColumns | undefined)[]>> = {},
) {
  const sought: string[] = [];
  return {
    sought,
    ledger: fakeLedger({
      bookings: {
        async nextJudged(runId, judged, after = -1) {
          const lines = stillCounts(judged) ? judgements[runId]?.[judged]?.[after + 1] : undefined;
          return lines && { batch: after + 1, rows: [...lines.keys()], lines };
        },
        async readExtra(runId, _form, batch) {
          return extra[runId]?.[batch];
        },
        async findExtra(references) {
          sought.push(...references);
          return new Map(references.map((reference) => [reference, { Price: 'of an earlier run' }]));
        },
        async measureBatches(runId) {
          const batches = judgements[runId]?.file ?? [];
          return { batches: batches.length, bookings: batches.flat().length };
        },
        async readBatches(runId, _form, { from, to }) {
          return judgements[runId]?.file?.slice(from, to).map(toLines) ?? [];
        },
      },
      hotels: { lookUp: async (ids) => ids.map(() => undefined) },
      cases: { findByKeys: async (keys) => keys.map(() => undefined) },
      mappings: {
        listSyncs: async () => [],
        lookUp: async (hotels) => hotels.map(() => undefined),
      },
    }),
  };
}

function judgedRun(id: string, overrides: Partial<Run> = {}): Run {
  return someRun({ id, delivery: 'file', file: { rows: 5, verdicts }, ...overrides });
}

const today = '2026-11-21';

const references = (listed: readonly { readonly fields: Readonly<Record<string, unknown>> }[]) =>
  listed.map(({ fields }) => fields.BookingReferenceId);

/** A list of what was sent on these days. */
function list(
  ledger: ReadOnlyLedger,
  name: ListName,
  runs: readonly Run[],
  filter: { readonly checkInBefore?: string; readonly withExtra?: boolean } = {},
) {
  return listBookings(ledger, name, runs.map(alone), { today, clock: () => 0, ...filter });
}

async function readAll(opened: Promise<BookingList>) {
  const list = await opened;
  const all: ListedBooking[] = [];
  for await (const chunk of list.read()) all.push(...chunk);
  expect(list.count).toBe(all.length);
  return all;
}

it('all refused bookings are listed, however many pages they fill', async () => {
  const rows = Array.from({ length: 2_000 }, (_, row) => ({
    ...{ stream: 'posted' as const, batch: 0, row, code: 'http-400', step: 'batch 0' },
    line: toLine(`R-${row}`, '05122026'),
  }));
  const { ledger } = openLedger({});
  const listRefused = async (_: string, limit: number, skip = 0) => rows.slice(skip, skip + limit);
  const refusing = withReplaced(ledger, { bookings: { listRefused } });
  expect(await readAll(list(refusing, 'refused', [someRun()]))).toHaveLength(rows.length);
});

describe('the affected bookings of days', () => {
  const runs = [
    judgedRun('a', { day: '2026-11-19' }),
    judgedRun('late', { topsUp: true }),
    judgedRun('first'),
  ];
  const judgements = {
    a: { incorrect: [[toLine('A-1', '05122026')], [toLine('A-2', '01122026', 'X1')]] },
    late: { incorrect: [[toLine('L-1', '24112026')]] },
    first: { incorrect: [[toLine('F-1', '05122026')]], unclear: [[toLine('F-2', '01012027')]] },
  };

  it('are listed over all runs and days by check-in, in their order where it is the same', async () => {
    const { ledger } = openLedger(judgements);
    const listed = await readAll(list(ledger, 'affected', runs));
    expect(references(listed)).toEqual(['L-1', 'A-2', 'A-1', 'F-1']);
    expect(listed.map(({ day }) => day)).toEqual(['2026-11-20', '2026-11-19', '2026-11-19', '2026-11-20']);
    expect(JSON.stringify(listed)).not.toContain('Lovelace');
  });

  it('begin with guests in house, then unknown check-ins, and end with stays that are over', async () => {
    const lines = [
      toLine('over', '10112026', 'H', '20112026'),
      toLine('ahead', '22112026', 'H', '24112026'),
      toLine('leaves-today', '15112026', 'H', '21112026'),
      toLine('unknown', '', 'H', ''),
      toLine('no-check-out', '22102026', 'H', ''),
      toLine('long-over', '21102026', 'H', ''),
      toLine('arrives-today', '21112026', 'H', '22112026'),
    ];
    const { ledger } = openLedger({ a: { incorrect: [lines] } });
    const run = judgedRun('a');
    expect(references(await readAll(list(ledger, 'affected', [run])))).toEqual([
      ...['no-check-out', 'leaves-today', 'unknown', 'arrives-today', 'ahead', 'long-over', 'over'],
    ]);
  });

  it('can be limited to a check-in before a day; an unknown one comes first and is always included', async () => {
    const { ledger } = openLedger({
      a: { incorrect: [[...(judgements.a.incorrect[1] ?? []), toLine('A-0', '')]] },
    });
    const filtered = await readAll(list(ledger, 'affected', runs, { checkInBefore: '2026-12-02' }));
    expect(references(filtered)).toEqual(['A-0', 'A-2']);
    const nearer = await readAll(list(ledger, 'affected', runs, { checkInBefore: '2026-12-01' }));
    expect(references(nearer)).toEqual(['A-0']);
  });
});

describe('the extra columns of affected bookings', () => {
  it('of a run that tops up are those of earlier runs where it has none', async () => {
    const lines = ['A-1', 'A-2', 'A-3'].map((reference) => toLine(reference, '01122026'));
    const extra = { a: [{ labels: ['Price'], rows: [null, ['2'], null] }] };
    const { ledger, sought } = openLedger({ a: { incorrect: [lines] } }, extra);
    const listExtra = (topsUp: boolean) => {
      const run = judgedRun('a', topsUp ? { topsUp } : {});
      return readAll(list(ledger, 'affected', [run], { withExtra: true }));
    };
    expect((await listExtra(false)).map((one) => one.extraValues?.Price)).toEqual([
      undefined,
      '2',
      undefined,
    ]);
    expect(sought).toEqual([]);
    expect((await listExtra(true)).map((one) => one.extraValues?.Price)).toEqual([
      'of an earlier run',
      '2',
      'of an earlier run',
    ]);
    expect(new Set(sought)).toEqual(new Set(['A-1', 'A-3']));
  });
});

describe('the bookings without a verdict', () => {
  it('have the reason that the result gives', async () => {
    const { ledger } = openLedger({
      a: {
        'not-in-result': [[toLine('N-1', '02122026')], [toLine('N-2', '04122026')]],
        unclear: [[toLine('U-1', '03122026')]],
        incorrect: [[toLine('A-1', '01122026')]],
      },
    });
    const listed = await readAll(list(ledger, 'unanswered', [judgedRun('a')]));
    expect(listed.map(({ fields, verdictReason }) => [fields.BookingReferenceId, verdictReason])).toEqual([
      ['N-1', 'not-in-result'],
      ['U-1', 'unclear'],
      ['N-2', 'not-in-result'],
    ]);
  });

  it.each([
    [{ rows: 3, triggeredAt: 7 }, 'awaiting-result'],
    [{ rows: 3 }, 'not-delivered'],
  ])('are all of the file while there is no result: %j', async (file, reason) => {
    const { ledger } = openLedger({
      a: { file: [[toLine('B-1', '02122026'), toLine('B-2', '01122026')], [toLine('B-3', '03122026')]] },
    });
    const run = judgedRun('a', { state: 'awaiting-result', file });
    const listed = await readAll(list(ledger, 'unanswered', [run]));
    expect(references(listed)).toEqual(['B-2', 'B-1', 'B-3']);
    expect(listed.map(({ verdictReason }) => verdictReason)).toEqual([reason, reason, reason]);
  });
});
