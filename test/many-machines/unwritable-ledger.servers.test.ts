import { expect, it, onTestFinished, vi } from 'vitest';
import { useFastClock } from '../support/fast-clock.js';
import { holdTimers } from '../support/held-timers.js';
import { patienceMs } from '../support/patience.js';
import { usePostgres, useRedis } from '../support/use-servers.js';
import { startWebhookReceiver } from '../support/webhook-receiver.js';
import { prepareMachines } from './machines.js';

const redis = useRedis();
const postgres = usePostgres();
const minuteMs = 60_000;

/** Lets minutes pass for the commands that are called in this process, again and again, until something holds. */
function useMinutes() {
  const { set } = useFastClock();
  const looks = holdTimers(minuteMs);
  const elapsed = performance.now.bind(performance);
  let aheadMs = 0;
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => elapsed() + aheadMs);
  onTestFinished(() => spy.mockRestore());
  return (holds: () => boolean | Promise<boolean>) =>
    vi.waitUntil(
      async () => {
        aheadMs += minuteMs;
        set(new Date(Date.now() + minuteMs).toISOString());
        await looks.pass();
        return holds();
      },
      { timeout: patienceMs, interval: 500 },
    );
}

it('while the ledger takes no writes, as a standby, `work` gives up after five minutes; `serve` stays up, tells people, and goes on when it is over', async () => {
  const pass = useMinutes();
  const receiver = await startWebhookReceiver();
  const { folder, ledgerUrl, ...machines } = await prepareMachines({
    postgres: postgres(),
    redis: redis(),
    bookings: 10,
    settings: { notify: [receiver.channel], schedule: { cron: '0 0 1 1 *', catchUpDays: 0 } },
  });
  /** From another database: once it is on, connections to this one could not turn it off. */
  const makeReadOnly = async (isOn: boolean) => {
    const name = ledgerUrl.split('/').at(-1);
    const ask = (sql: string) => postgres().query(ledgerUrl.replace(/[^/]*$/, 'postgres'), sql);
    await ask(`ALTER DATABASE ${name} SET default_transaction_read_only = ${isOn ? 'on' : 'off'}`);
    await ask(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
  };
  const unwritable = 'its PostgreSQL is a standby or read-only';
  const worker = await machines.callWorker();
  const serving = folder.call(['serve', '--port', '0']);
  await serving.wrote('"serving"');
  const url = [...serving.stderr.matchAll(/"url":"([^"]+)"/g)].at(-1)?.[1] ?? '';
  const isReady = async () => (await fetch(`${url}/readyz`)).status === 200;
  expect(await isReady()).toBe(true);

  await makeReadOnly(true);
  await pass(() => worker.hasEnded);
  const given = await worker.ended;
  expect([given.exitCode, given.stderr]).toEqual([1, expect.stringContaining(unwritable)]);
  await pass(() => receiver.arrived.length > 1);
  for (const message of receiver.arrived)
    expect(message).toMatchObject({ event: 'run-failed', severity: 'critical' });
  expect(await isReady()).toBe(false);
  await serving.wrote(unwritable);

  await makeReadOnly(false);
  await pass(isReady);
  serving.stop();
  expect((await serving.ended).exitCode).toBe(0);
});
