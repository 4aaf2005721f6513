import { expect, it, onTestFinished, vi } from 'vitest';
import { day } from '../support/day-folder.js';
import { useFastClock } from '../support/fast-clock.js';
import { holdTimers } from '../support/held-timers.js';
import { patienceMs } from '../support/patience.js';
import { redisNeeds } from '../support/redis.js';
import { usePostgres, useRedis } from '../support/use-servers.js';
import { startWebhookReceiver } from '../support/webhook-receiver.js';
import { prepareMachines } from './machines.js';

const postgres = usePostgres();
const redis = useRedis();
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

/** A ledger whose user has a password, and what an administrator does to it. */
async function prepareChange() {
  const admin = await postgres().createDatabase();
  const name = admin.split('/').at(-1) ?? '';
  const user = `reviewer_${name}`;
  const other = admin.replace(/[^/]*$/, 'postgres');
  const ask = (sql: string) => postgres().query(other, sql);
  await ask(`CREATE ROLE ${user} LOGIN PASSWORD 'first-s3cret'`);
  await ask(`ALTER DATABASE ${name} OWNER TO ${user}`);
  const cut = () =>
    ask(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}' AND usename = '${user}'`,
    );
  const receiver = await startWebhookReceiver();
  const machines = await prepareMachines({
    postgres: postgres(),
    redis: redis(),
    bookings: 10,
    settings: {
      ledger: postgres().overTcp(admin, { user, password: 'first-s3cret' }),
      notify: [receiver.channel],
      schedule: { cron: '0 0 1 1 *', catchUpDays: 0 },
    },
  });
  const changes = {
    'a changed password': {
      async make() {
        await ask(`ALTER ROLE ${user} PASSWORD 'second-s3cret'`);
        await cut();
      },
      undo: () => ask(`ALTER ROLE ${user} PASSWORD 'first-s3cret'`),
      says: 'refused the user or the password',
      event: 'credentials-refused',
    },
    'a server that takes no writes': {
      async make() {
        await ask(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
        await cut();
      },
      async undo() {
        await ask(`ALTER DATABASE ${name} SET default_transaction_read_only = off`);
        await cut();
      },
      says: 'its PostgreSQL is a standby or read-only',
      event: 'run-failed',
    },
  };
  return { ...machines, receiver, changes };
}

const kinds = ['a changed password', 'a server that takes no writes'] as const;

it.skipIf(redisNeeds).each(kinds)(
  'work ends with 1 after five minutes with %s of its ledger',
  async (kind) => {
    const pass = useMinutes();
    const { folder, receiver, changes } = await prepareChange();
    const { make, says, event } = changes[kind];
    const worker = folder.call(['work']);
    await worker.wrote('"working"');
    await make();
    let hasEnded = false;
    void worker.ended.then(() => {
      hasEnded = true;
    });
    await pass(() => hasEnded);
    const { exitCode, stderr } = await worker.ended;
    expect(exitCode).toBe(1);
    expect(stderr).toContain(says);
    expect(stderr).not.toContain('s3cret');
    expect(receiver.arrived).toMatchObject([{ event, severity: 'critical' }]);
  },
);

it.skipIf(redisNeeds).each(kinds)(
  'serve stays up with %s of its ledger, tells it, and goes on when it is over',
  async (kind) => {
    const pass = useMinutes();
    const { folder, receiver, changes } = await prepareChange();
    const { make, undo, says, event } = changes[kind];
    const serving = folder.call(['serve', '--port', '0']);
    await serving.wrote('"serving"');
    const url = [...serving.stderr.matchAll(/"url":"([^"]+)"/g)].at(-1)?.[1] ?? '';
    const isReady = async () => (await fetch(`${url}/readyz`)).status === 200;
    expect(await isReady()).toBe(true);
    await make();
    await pass(() => receiver.arrived.length > 0);
    expect(receiver.arrived).toMatchObject([{ event, severity: 'critical' }]);
    // Whoever asks need not say who they are: the reason stands in the log.
    const answer = await fetch(`${url}/readyz`);
    expect([answer.status, await answer.json()]).toEqual([
      503,
      expect.objectContaining({ parts: expect.objectContaining({ ledger: 'down' }) }),
    ]);
    await serving.wrote(says);
    await undo();
    await pass(isReady);
    serving.stop();
    expect((await serving.ended).exitCode).toBe(0);
  },
);

it.skipIf(redisNeeds)(
  'run ends with 1 and the reason when Redis asks for a password in the middle',
  async () => {
    const pass = useMinutes();
    const { folder, standIn } = await prepareMachines({
      postgres: postgres(),
      redis: redis(),
      bookings: 30,
      // The day is never done.
      handler: async () => ({ kind: 'text', status: 503, body: '' }),
      settings: { retry: { baseSeconds: 1, capSeconds: 5, tries: 20 } },
    });
    const running = folder.call(['run', '--day', day, '--json']);
    await vi.waitUntil(() => standIn.requests.length > 0, { timeout: patienceMs });
    let hasEnded = false;
    void running.ended.then(() => {
      hasEnded = true;
    });
    await redis().ask(async (administrator) => {
      await administrator.config('SET', 'requirepass', 's3cret');
      await administrator.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      await pass(() => hasEnded);
      await administrator.config('SET', 'requirepass', '');
    });
    const { exitCode, stderr } = await running.ended;
    expect(exitCode).toBe(1);
    expect(stderr).toContain('NOAUTH');
  },
);
