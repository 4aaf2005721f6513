import { describe, expect, it, vi } from 'vitest';
import { createScoreMemory, scoreProviders, wilsonInterval } from '../../../src/cases/scores/scorecard.js';
import type { CaseSummary } from '../../../src/ledger/cases.js';
import type { ReadOnlyLedger } from '../../../src/ledger/ledger.js';
import type { Run } from '../../../src/rules/run.js';
import { someRun } from '../../review/some-run.js';
import { ledgerOf } from './stored-days.js';

const hourMs = 3_600_000;
const at = Date.parse('2026-11-20T12:00:00Z');
const verdicts = { affected: 0, unanswered: 0, unclear: 0, malformed: 0, listsUnanswered: true } as const;

const toLine = (provider: string, hotel: string) => `7,BR-1,Ana,${provider},${hotel},01122026,08122026`;
const toPosted = (provider: string, hotel: string) => `7,,,${provider},${hotel},,`;

const fileRun = (id: string, overrides: Partial<Run> = {}) =>
  someRun({
    id,
    delivery: 'file',
    collectedAt: at,
    file: { rows: 5, triggeredAt: at, verdicts },
    ...overrides,
  });
async function score(ledger: ReadOnlyLedger) {
  const { signal } = new AbortController();
  const scored = await createScoreMemory(ledger)(['2026-11-19', '2026-11-20'], signal);
  return scoreProviders(ledger, 'UTC', scored);
}

describe('the scores of providers', () => {
  it('count each sent booking once, and its verdict as far as one is known', async () => {
    const scores = await score(
      ledgerOf([
        {
          run: fileRun('late', { topsUp: true }),
          file: [
            ['A', 'A', 'B'].map((provider) => toLine(provider, '1')),
            ['A', 'B'].map((provider) => toLine(provider, '2')),
          ],
          judged: { incorrect: { 1: [0] }, unclear: { 0: [2] } },
          suspects: [{ stream: 'file', batch: 1, rows: [0, 1] }],
        },
        {
          run: fileRun('first'),
          file: [['A', 'A', 'B'].map((provider) => toLine(provider, '1'))],
          posted: [[toPosted('A', '3'), toPosted('C', '3'), toPosted('C', '4')]],
          undelivered: [{ batch: 0, first: 2, bookings: 1, state: 'refused' }],
          judged: { incorrect: { 0: [0, 1, 2] } },
          suspects: [{ stream: 'posted', batch: 0, rows: [0] }],
        },
      ]),
    );
    const none = { namedByEmail: 0, cases: 0, corrected: 0, medianHoursToCorrection: null };
    expect(scores).toMatchObject([
      {
        ...{ providerName: 'B', sent: 2, known: 2, affected: 1, byEmail: 0 },
        ...{ suspects: { flagged: 1, known: 1, incorrect: 0 }, repeatOffenders: [], ...none },
      },
      {
        ...{ providerName: 'A', sent: 4, known: 3, affected: 1, byEmail: 1 },
        ...{ suspects: { flagged: 2, known: 1, incorrect: 1 }, repeatOffenders: [], ...none },
      },
      {
        ...{ providerName: 'C', sent: 1, known: 0, affected: null, byEmail: 1 },
        ...{ suspects: { flagged: 0, known: 0, incorrect: null }, repeatOffenders: [], ...none },
      },
    ]);
  });

  it('count what e-mails name: among the verdicts of a result, and apart from bookings that have none', async () => {
    const run = fileRun('one', { startedAt: at, finishedAt: at + hourMs });
    const named = [
      { stream: 'file', batch: 0, row: 1 },
      { stream: 'posted', batch: 0, row: 0 },
    ] as const;
    const posted = [['1', '2', '3', '4', '5'].map((hotel) => toPosted('A', hotel))];
    const stored = [{ run, file: [[toLine('A', '1'), toLine('A', '1')]], posted, named }];
    const pair = { providerName: 'A', providerHotelId: '3', serviceId: 7, receivedAt: at + 1 };
    const pairs = [
      pair,
      { ...pair, providerHotelId: '4', receivedAt: at - hourMs },
      { ...pair, providerHotelId: '5', serviceId: 8 },
    ];
    const ledger = ledgerOf(stored, [], pairs);
    expect(await score(ledger)).toMatchObject([
      { sent: 7, known: 2, affected: 1, byEmail: 5, namedByEmail: 2 },
    ]);
  });

  it('name hotels that were affected on several days or have several cases, and the median time to a correction', async () => {
    const affected = { incorrect: { 0: [0, 1] } };
    const opened = (hotel: string, state: CaseSummary['state'], hours = 0, openedAt = at) => ({
      ...{ id: 1, providerName: 'A', providerHotelId: hotel, state, openedAt },
      ...{ serviceId: 1, origins: [], evidenceAt: openedAt, stateSince: openedAt + 99 * hourMs },
      ...(state === 'corrected' && { correctedBy: openedAt + hours * hourMs }),
    });
    const ledger = ledgerOf(
      [
        {
          run: fileRun('one', { day: '2026-11-19' }),
          file: [[toLine('A', 'often'), toLine('A', 'once')]],
          judged: affected,
        },
        { run: fileRun('two'), file: [[toLine('A', 'often'), toLine('A', 'often')]], judged: affected },
      ],
      [
        opened('twice', 'open'),
        opened('twice', 'corrected', 2),
        opened('once', 'corrected', 10),
        opened('other', 'corrected', 3),
        opened('other', 'dismissed'),
        opened('single', 'corrected', 5),
        opened('older', 'corrected', 1_000, at - 90 * 24 * hourMs),
      ],
    );
    const list = vi.spyOn(ledger.cases, 'listOpened');
    expect(await score(ledger)).toMatchObject([
      {
        cases: 6,
        corrected: 4,
        medianHoursToCorrection: 4,
        repeatOffenders: [
          { providerHotelId: 'often', cases: 0, days: 2 },
          { providerHotelId: 'other', cases: 2, days: 0 },
          { providerHotelId: 'twice', cases: 2, days: 0 },
        ],
      },
    ]);
    expect(list).toHaveBeenCalledTimes(1);
  });
});

// From R: prop.test(hits, of, correct = FALSE)$conf.int
it.each([
  [0, 10, 0, 0.2775],
  [2, 10, 0.0567, 0.5098],
  [10, 10, 0.7225, 1],
  [200, 1000, 0.1764, 0.2259],
  [1, 1_000_000, 0.00000018, 0.00000566],
  [0, 0, undefined, undefined],
])('the interval of a share of %d in %d is that of Wilson', (hits, of, low, high) => {
  const interval = wilsonInterval(hits, of);
  const near = (value?: number) =>
    value === undefined ? undefined : expect.closeTo(value, of > 1000 ? 8 : 4);
  expect([interval?.low, interval?.high]).toEqual([near(low), near(high)]);
});
