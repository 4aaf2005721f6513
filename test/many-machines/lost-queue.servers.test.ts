import { expect, it, onTestFinished } from 'vitest';
import { day } from '../support/day-folder.js';
import { createGate } from '../support/gate.js';
import { success } from '../support/http-stand-in.js';
import { redisNeeds, startRedis } from '../support/redis.js';
import { usePostgres } from '../support/use-servers.js';
import { prepareMachines, stepsPerProcess } from './machines.js';

const postgres = usePostgres();

/** The batches before each loss; the next ones are in flight then, two of each worker. */
const [beforeFirst, beforeSecond] = [6, 10];
const inFlight = 2 * stepsPerProcess;

it.skipIf(redisNeeds)(
  'a day during which Redis loses everything, and is killed and comes back empty, is completed from the ledger, and nothing is sent twice',
  async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.close());
    const [first, second] = [createGate(), createGate()];
    const { standIn, ledger, ...machines } = await prepareMachines({
      redis,
      postgres: postgres(),
      bookings: 300,
      async handler(request, number) {
        await request.readBody();
        if (number > beforeFirst) await first.passed;
        if (number > beforeSecond) await second.passed;
        return success;
      },
    });
    const workers = await Promise.all([machines.startWorker(), machines.callWorker()]);
    await machines.detach();
    await standIn.received(beforeFirst + inFlight);
    await ledger.reaches(({ done }) => done === beforeFirst);
    expect(await redis.readEverything()).toContain('hotel-review');
    await redis.flushAll();
    first.open();

    await standIn.received(beforeSecond + inFlight);
    await ledger.reaches(({ done }) => done === beforeSecond);
    await redis.kill();
    for (const worker of workers) await worker.wrote('queue away');
    second.open();
    await ledger.reaches(({ done }) => done === beforeSecond + inFlight);
    await redis.startAgain({ empty: true });
    expect((await machines.completed()).counts.repeated).toBe(0);
    for (const worker of workers) await worker.wrote('queue back');
    expect(workers.map(({ hasEnded }) => hasEnded)).toEqual([false, false]);
  },
);

it.skipIf(redisNeeds)(
  'with a Redis that will never take a step, run, work and serve end with 2 at their start, and nothing is sent',
  async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.close());
    await redis.ask((client) => client.call('ACL', 'SETUSER', 'reviewer', 'on', '>s3cret', '+@all', '~x'));
    const url = `redis://reviewer:s3cret@127.0.0.1:${redis.port}`;
    const { folder, standIn } = await prepareMachines({ postgres: postgres(), redis: { url }, bookings: 10 });
    for (const words of [['run', '--day', day], ['work'], ['serve', '--port', '0']]) {
      const { exitCode, stderr } = await folder.run(words);
      expect([words, exitCode, stderr]).toEqual([words, 2, expect.stringContaining('NOPERM')]);
      expect(stderr).not.toContain('s3cret');
    }
    expect(standIn.requests).toEqual([]);
  },
);
