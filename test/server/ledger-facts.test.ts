import { expect, it } from 'vitest';
import { readLedgerFacts } from '../../src/desk/server/ledger-metrics.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import type { OpenProblem } from '../../src/ledger/notices.js';
import type { Run } from '../../src/rules/run.js';
import { someRun } from '../review/some-run.js';
import { noRuns } from '../schedule/ledger-days.js';
import { fakeLedger, type LedgerParts } from '../support/fake-ledger.js';
import { noCases } from './some-facts.js';
import { now, timezone } from './some-server.js';

const options = { now, timezone };

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
      someRun({ day: '2026-11-10' }),
      someRun({ day: '2026-11-06' }),
    ]),
    options,
  );
  expect(recentDays).toEqual({
    ...{ good: 2, failed: 1, incomplete: 2, 'awaiting-result': 1, missing: 3 },
    ...{ collecting: 0, delivering: 0, cancelled: 0, 'to-be-accepted': 0 },
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
