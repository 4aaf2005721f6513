import { expect, it } from 'vitest';
import { ledger } from '../../../src/checks/doctor/ledger.js';
import { LedgerUnusableError } from '../../../src/ledger/errors.js';
import { openTemporaryLedger } from '../../review/temporary-ledger.js';
import { withReplaced } from '../../support/fake-ledger.js';
import { lines, look, makeApp } from './checked.js';

type Ended = readonly [day: string, state?: 'succeeded' | 'failed'];

/** What doctor says of a ledger with these runs; one without a state is still collecting. */
async function say(runs: readonly Ended[]) {
  const real = await openTemporaryLedger();
  for (const [index, [day, state]] of runs.entries()) {
    const run = { id: `run-${index}`, day, delivery: 'body', trigger: 'manual', startedAt: index } as const;
    const { token } = await real.runs.create(run);
    if (state) await real.runs.settle({ runId: run.id, token }, { state, at: 9 });
  }
  return lines(await look(ledger, makeApp({}, { findLedger: async () => real })));
}

it('doctor says that there is no ledger yet, or no run', async () => {
  expect(lines(await look(ledger))).toEqual([
    'ok ledger: it does not exist yet and will be created at the ledger',
  ]);
  expect(await say([])).toEqual(['ok ledger: the ledger holds no run yet']);
});

it('doctor says what is wrong with a ledger in its own words', async () => {
  const findLedger = () => Promise.reject(new LedgerUnusableError('x.db', 'expected an SQLite database'));
  const [finding] = lines(await look(ledger, makeApp({}, { findLedger })));
  expect(finding).toMatch(/^wrong ledger: .*expected an SQLite database/);
});

it('doctor counts the runs, and warns about unfinished days by the newest run of each', async () => {
  expect(
    await say([
      ['2026-11-17', 'failed'],
      ['2026-11-18', 'succeeded'],
      ['2026-11-19', 'failed'],
      ['2026-11-19', 'succeeded'],
      ['2026-11-20'],
    ]),
  ).toEqual([
    'ok ledger: the ledger holds 5 runs; the last day is 2026-11-20: collecting',
    'warning ledger: unfinished, or in progress: 2026-11-20 (collecting), 2026-11-17 (failed)',
  ]);
  const many = Array.from({ length: 8 }, (_, index): Ended => [`2026-11-0${index + 1}`]);
  expect((await say(many))[1]).toMatch(/2026-11-04 \(collecting\) and 3 more$/);
});

it.each([
  [5, 3, 'ok', 'fit; there are 3'],
  [5, 4, 'warning', 'fit, but there are 4'],
  [20, 0, 'warning', 'fit, but there are 0'],
])('of 20 connections others have %i: with %i processes doctor says %s', async (...given) => {
  const [otherClients, processes, verdict, words] = given;
  const real = await openTemporaryLedger();
  const parts = {
    countConnections: async () => ({ max: 20, otherClients }),
    workers: { listSeen: async () => Array(processes) },
  };
  const findLedger = async () => withReplaced(real, parts);
  const found = lines(await look(ledger, makeApp({ workers: { connections: 4 } }, { findLedger })));
  expect(found[1]).toBe(
    `${verdict} ledger: the server takes 20 connections, of which other programs have ${otherClients}: ` +
      `${otherClients === 5 ? 3 : 0} workers with 4 each ${words}`,
  );
});
