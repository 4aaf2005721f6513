import { expect, it } from 'vitest';
import type { App } from '../../jobs/app.js';
import { composeNotifier, createLedgerTelling } from '../../jobs/notifications.js';
import { createReports, createTerminal } from '../../jobs/terminal.js';
import { businessDayAt } from '../../src/booking/business-day.js';
import type { Config } from '../../src/config/load.js';
import { DatabaseBusyError, LedgerFullError } from '../../src/ledger/errors.js';
import type { Run } from '../../src/rules/run.js';
import { parse } from '../config/writing.js';
import { someRun } from '../review/some-run.js';
import { openTemporaryLedger } from '../review/temporary-ledger.js';
import { captureIo } from '../support/command-io.js';
import { startWebhookReceiver } from '../support/webhook-receiver.js';

const day = '2026-11-20';
const full = new LedgerFullError('/data/ledger.db');

async function prepareTelling() {
  const receiver = await startWebhookReceiver();
  const { io } = captureIo();
  const reports = createReports(io.stdout, false);
  const terminal = createTerminal({ config: 'hotel-review.yaml', reports, log: undefined, io });
  const channel = { ...receiver.channel, name: 'hook', on: ['run-failed'], minimum: 'info', at: '08:00' };
  const places = { folder: '/etc', ledger: {}, archive: {}, file: { spool: '/spool' }, source: {} };
  const config = { notify: [channel], server: {}, ...places } as unknown as Config;
  return { receiver, telling: createLedgerTelling(config, terminal) };
}

it('serve tells once for all tries of its nights, and again after a review could use the ledger', async () => {
  const { receiver, telling } = await prepareTelling();
  const dueDay = {
    day: businessDayAt(new Date(`${day}T12:00Z`), 'UTC'),
    kind: 'start',
    isNightly: true,
  } as const;
  const fail = (error: unknown) => telling.notify({ type: 'due-day-failed', dueDay, error });
  await fail(new Error('something else'));
  await fail(full);
  await fail(new DatabaseBusyError('locked'));
  await telling.notify({ type: 'check-failed', error: full });
  expect(receiver.arrived).toHaveLength(1);
  await telling.notify({ type: 'due-day-ended', dueDay });
  await telling.notify({ type: 'check-failed', error: full });
  expect(receiver.arrived).toHaveLength(2);
  expect(new Set(receiver.arrived.map(({ id }) => id)).size).toBe(2);
});

it('a receiver that may have it and does not confirm it gets it three times in each outage, with one id', async () => {
  const { receiver, telling } = await prepareTelling();
  receiver.answer = { kind: 'drop', when: 'after-reading' };
  for (const [arrived, ids] of [
    [3, 1],
    // Once a review could use the ledger, it is another outage.
    [6, 2],
  ] as const) {
    for (let time = 0; time < 5; time += 1) await telling.notify({ type: 'check-failed', error: full });
    expect(receiver.arrived).toHaveLength(arrived);
    expect(new Set(receiver.arrived.map(({ id }) => id)).size).toBe(ids);
    await telling.notify({ type: 'run-opened', run: someRun({ day }), isResumed: false });
  }
});

it('a day whose review succeeded is not said to have failed', async () => {
  const { receiver, telling } = await prepareTelling();
  const run: Run = someRun({ day, state: 'succeeded' });
  await telling.notify({ type: 'settled', run });
  await telling.notify({ type: 'review-broke-off', day, error: full });
  expect(receiver.arrived).toMatchObject([
    { day: null, title: "Nothing is reviewed: the ledger can't be used" },
  ]);
});

it('the morning digest is due at the earliest time that any channel has', async () => {
  const ledger = await openTemporaryLedger(() => 0);
  const slack = { kind: 'slack', url: 'https://hooks.slack.com/services/T0/hush' };
  const notify = ['08:00', '06:00', '10:00'].map((at, index) => ({
    ...{ ...slack, name: `slack-${index}`, on: ['morning-digest'], at },
  }));
  const app = { config: parse({ notify, timezone: 'UTC' }) } as unknown as App;
  const { findDigest } = composeNotifier(app, ledger).listChecks();
  const seen = async (time: string) => (await findDigest(Date.parse(`2026-11-21T${time}Z`)))?.day;
  expect([await seen('05:59'), await seen('06:00')]).toEqual([undefined, day]);
});
