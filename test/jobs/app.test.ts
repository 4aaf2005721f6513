import { expect, it } from 'vitest';
import { type App, recordAction, recordLook } from '../../jobs/app.js';
import { cancelIn } from '../../jobs/commands/cancel.js';
import { keepArchiveTold } from '../../jobs/ledger-gate.js';
import { createReports, createTerminal } from '../../jobs/terminal.js';
import { LedgerFullError } from '../../src/ledger/errors.js';
import type { Observer } from '../../src/notify/events.js';
import { at, claimStep, collectedRun, day } from '../contracts/ledger/days.js';
import { someRun } from '../review/some-run.js';
import { openTemporaryLedger } from '../review/temporary-ledger.js';
import { captureIo } from '../support/command-io.js';
import { fakeLedger } from '../support/fake-ledger.js';
import { createGate } from '../support/gate.js';

it('a command refuses to show names where it cannot record that, and only warns where it shows none', async () => {
  const { io, stderr } = captureIo();
  const terminal = createTerminal({ reports: createReports(io.stdout, false), config: 'c.yaml', io });
  const full = fakeLedger({ audit: { record: () => Promise.reject(new LedgerFullError('l.db')) } });
  const action = { action: 'show', subject: 'BR-1' } as const;
  await expect(recordAction(full, action, terminal)).rejects.toThrow(
    "refused, because the audit trail can't record it: the disk of the ledger l.db is full",
  );
  await recordLook(full, action, terminal);
  expect(stderr.text()).toMatch(/^warning: the audit trail can't record this: the disk of the ledger l.db/);
});

it('the archive is told of each run that ends, also of one that ends meanwhile, and after it was away', async () => {
  const [asked, answers] = [createGate(), createGate()];
  let [tellings, warnings] = [0, 0];
  const archive = {
    path: '/archive',
    async readLedgerMark() {
      tellings += 1;
      asked.open();
      await answers.passed;
      throw new Error('away');
    },
  };
  const observers: Observer[] = [];
  const app = {
    archive: () => archive,
    observe: (observer: Observer) => void observers.push(observer),
    warn: () => {
      warnings += 1;
    },
  } as unknown as App;
  const told = keepArchiveTold(app, fakeLedger({}));
  const settle = () => observers[0]?.({ type: 'settled', run: someRun() });
  settle();
  await asked.passed;
  settle();
  // It is told of both at once.
  settle();
  answers.open();
  await told.close();
  expect([tellings, warnings]).toEqual([2, 2]);
  settle();
  await told.close();
  expect([tellings, warnings]).toEqual([3, 3]);
});

it('cancelling removes what the run left on this machine, unless somebody is working on it', async () => {
  for (const isWorkedOn of [false, true]) {
    const ledger = await openTemporaryLedger(() => at);
    const run = await collectedRun(ledger, 'r1');
    if (isWorkedOn) await claimStep(ledger, run, 'batch 0');
    const removed: string[] = [];
    const spool = {
      list: async () => ['r1.csv', 'r2.csv'],
      remove: async (names: readonly string[]) => void removed.push(...names),
    };
    const archive = { readLedgerMark: () => Promise.reject(new Error('away')) };
    const app = { ledger: async () => ledger, spool: () => spool, archive: () => archive } as unknown as App;
    const result = await cancelIn(app, day, 'wrong export');
    expect(result).toMatchObject({ run: { state: 'cancelled' }, wasBeingWorkedOn: isWorkedOn });
    expect(removed).toEqual(isWorkedOn ? [] : ['r1.csv']);
  }
});
