import { describe, expect, it } from 'vitest';
import { readLedgerFacts, summariseLatestDay } from '../../../src/desk/server/ledger-metrics.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import type { OpenProblem } from '../../../src/ledger/notices.js';
import type { Run } from '../../../src/rules/run.js';
import { someRun } from '../../review/some-run.js';
import { outcomeOf } from '../../rules/some-outcome.js';
import { noRuns } from '../../schedule/ledger-days.js';
import { fakeLedger, type LedgerParts } from '../../support/fake-ledger.js';
import { noCases } from './some-facts.js';
import { now, timezone } from './some-server.js';

const options = { now, timezone };
const drops = [{ provider: null, accepted: 3, usual: 900 }];

/** A ledger with these runs, the newest first. */
function ledgerOf(runs: readonly Run[], others: LedgerParts = {}): Ledger {
  return fakeLedger({
    runs: {
      summarise: async () => ({ runsByState: noRuns, firstDay: '2026-11-10' }),
      list: async ({ day }) => runs.filter((run) => run.day === day),
      listLatest: async ({ from, to }) =>
        runs
          .filter(({ day }) => day >= from && day <= to)
          .filter(({ day }, index, all) => all.findIndex((run) => run.day === day) === index)
          .sort((one, other) => (one.day < other.day ? -1 : 1)),
      findVolume: async () => undefined,
    },
    canaries: { list: async () => [] },
    cases: { count: async () => noCases },
    notices: {
      countMessages: async () => ({ pending: 0, givenUp: 0, perhapsReceived: 0 }),
      listProblems: async () => [],
      ...others.notices,
    },
    mappings: { latestSync: async () => undefined, ...others.mappings },
  });
}

it('Days are counted by their newest run: the 14 before today, from the first one in the ledger, whose first weekend nobody misses', async () => {
  const { recentDays } = await readLedgerFacts(
    ledgerOf([
      // Today is not over.
      someRun({ day: '2026-11-21', state: 'failed' }),
      someRun({ day: '2026-11-20' }),
      someRun({ day: '2026-11-19', state: 'failed' }),
      someRun({ day: '2026-11-19' }),
      // Nothing that was booked after noon.
      someRun({ day: '2026-11-18', trigger: 'today' }),
      someRun({ day: '2026-11-17', state: 'awaiting-result' }),
      someRun({ day: '2026-11-16', expected: 5 }),
      // Few bookings, which nobody has accepted.
      someRun({ day: '2026-11-15', volume: { accepted: 3, usual: 900, minimum: 450, drops } }),
      someRun({ day: '2026-11-10' }),
      someRun({ day: '2026-11-06' }),
    ]),
    options,
  );
  expect(recentDays).toEqual({
    ...{ good: 2, failed: 1, incomplete: 2, 'awaiting-result': 1, missing: 3 },
    ...{ collecting: 0, delivering: 0, cancelled: 0, 'to-be-accepted': 1 },
  });
});

it('Open problems are counted by event, for each event that can last', async () => {
  const problems = ['day-late', 'day-late', 'copy-stale'].map((event) => ({ event }) as OpenProblem);
  const notices = { listProblems: async () => problems };
  const facts = await readLedgerFacts(ledgerOf([], { notices }), options);
  expect(facts.problems).toEqual({
    ...{ 'run-failed': 0, 'day-late': 2, 'result-late': 0, 'result-incomplete': 0, 'volume-dropped': 0 },
    ...{ 'affected-implausible': 0 },
    ...{ 'sync-failing': 0, 'copy-stale': 1, 'export-missing': 0 },
    ...{ 'credentials-refused': 0, 'resource-low': 0 },
  });
});

it('The ledger gets one query at a time', async () => {
  let open = 0;
  let most = 0;
  const counting = new Proxy(ledgerOf([someRun()]), {
    get: (ledger, name) => wrap(Reflect.get(ledger, name)),
  });
  const wrap = (value: unknown): unknown => {
    if (typeof value !== 'function')
      return new Proxy(value as object, { get: (port, name) => wrap(Reflect.get(port, name)) });
    return async (...args: unknown[]) => {
      open += 1;
      most = Math.max(most, open);
      await new Promise(setImmediate);
      open -= 1;
      return value(...args);
    };
  };
  await readLedgerFacts(counting, options);
  expect(most).toBe(1);
});

describe('the summary of the latest day', () => {
  it('adds up what the runs sent, and counts what could not be sent once', () => {
    const runs = [
      someRun({
        ...{ id: 'night', delivery: 'file', topsUp: true, suspects: 1 },
        counts: {
          read: 107,
          accepted: 40,
          duplicates: 60,
          rejected: 5,
          filtered: 2,
          delivered: 38,
          refused: 2,
        },
        file: { verdicts: { affected: 3, unanswered: 1, unclear: 0, malformed: 0 } },
      }),
      someRun({ id: 'noon', trigger: 'today', counts: { accepted: 60, delivered: 60, rejected: 4 } }),
    ].map((run) => ({
      ...run,
      counts: { ...run.counts, ...(run.delivery === 'body' && { affected: null, unanswered: null }) },
    }));
    expect(summariseLatestDay(outcomeOf(runs), { Hotelbeds: 100 })).toMatchObject({
      day: '2026-11-20',
      records: { accepted: 100, rejected: 5, filtered: 2 },
      bookings: { delivered: 98, refused: 2, pending: 0 },
      affected: 0,
      suspects: 1,
      providers: new Map([['Hotelbeds', 100]]),
    });
  });

  it('names the 20 largest providers, and sums up the others as other, along with one of that name', () => {
    const counts = Object.fromEntries(
      Array.from({ length: 30 }, (_, index) => [`P${String(index).padStart(2, '0')}`, 100 - index]),
    );
    const { providers } = summariseLatestDay(outcomeOf([someRun()]), { ...counts, other: 500 });
    expect(providers.size).toBe(20);
    expect([...providers.keys()].slice(0, 3)).toEqual(['other', 'P00', 'P01']);
    const others = Array.from({ length: 11 }, (_, index) => 100 - 19 - index);
    expect(providers.get('other')).toBe(500 + others.reduce((sum, count) => sum + count));
  });

  it('shows active characters of a name, and cuts a long one between characters', () => {
    const { providers } = summariseLatestDay(outcomeOf([someRun()]), {
      'a\u001b[2J\nb': 2,
      ['🏨'.repeat(300)]: 1,
    });
    expect([...providers.keys()]).toEqual(['a\\u001b[2J\\u000ab', '🏨'.repeat(100)]);
  });
});
