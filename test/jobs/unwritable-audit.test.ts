import { readdir } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/ledger/sqlite/database.js';
import { day, prepareDay } from '../support/day-folder.js';
import { csvOf } from '../support/made-bookings.js';

it('what the audit trail cannot record reveals, writes and removes no name; what shows none only warns', async () => {
  const { folder } = await prepareDay({
    bookings: `${csvOf(12)}none,BR-13,Ada,Expedia,1,2026-12-01,2026-12-08\n`,
    settings: { hashKey: 'a key of the tests' },
  });
  expect((await folder.run(['run', day])).exitCode).toBe(0);
  const ledger = openDatabase(folder.ledgerFile, { busyTimeoutMs: 0 });
  onTestFinished(() => ledger.close());
  ledger.exec(`CREATE TRIGGER failing BEFORE INSERT ON audit_trail BEGIN SELECT RAISE(ABORT, 'no'); END`);
  const before = await readdir(folder.path);
  const message = expect.stringMatching(/^refused, because the audit trail can't record it: /);
  const refused: unknown[] = [];
  const revealing = [
    ['rejected', day],
    ['show', 'BR-2', '--answers'],
    ['guest', 'export', 'BR-2'],
    ['guest', 'erase', 'BR-2', '--reason', 'asked'],
    ['guest', 'purge'],
    ['evidence', 'BR-2', '--out', 'proof.zip'],
    ['backup', 'copy.db'],
    ['run', day, '--dry-run', '--out', 'out'],
  ];
  for (const words of revealing) {
    const { exitCode, json } = await folder.run([...words, '--json']);
    refused.push([words, exitCode, json]);
  }
  expect(refused).toEqual(revealing.map((words) => [words, 1, { error: { class: 'internal', message } }]));
  expect(await readdir(folder.path)).toEqual(before);
  const stderr = expect.stringContaining("warning: the audit trail can't record this: ");
  // The name that was not erased is still found.
  for (const words of [['show', 'BR-2'], ['show', '--name', 'Guest 2'], ['affected', day], ['cases']])
    expect([words, await folder.run(words)]).toMatchObject([words, { exitCode: 0, stderr }]);
});
