import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { settled, stepsOf } from '../contracts/queue-worker.js';
import { type Child, startChild } from '../ledger/child.js';
import { compiled } from '../support/compiled.js';
import { patienceMs } from '../support/patience.js';
import { type RunningRedis, redisNeeds, startRedis } from '../support/redis.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { answerMs, useQueues } from './opened-queues.js';

const lockMs = 600;
const children: Child[] = [];
const module = `${compiled}src/queue/bullmq.js`;

let redis: RunningRedis;
let proxy: TcpProxy;
beforeEach(async ({ skip }) => {
  skip(redisNeeds !== undefined, redisNeeds);
  redis = await startRedis();
  proxy = await startTcpProxy(redis.port);
});
afterEach(async () => {
  for (const child of children.splice(0)) await child.kill();
  await redis?.close();
  await proxy?.stop();
});
const open = useQueues();

/** A worker process that reports each step that it starts, and holds it until SIGUSR2. */
function startWorker(): Child {
  const child = startChild(`
    const { createBullmqQueue } = await import(${JSON.stringify(module)});
    let letGo;
    const open = new Promise((resolve) => { letGo = resolve; });
    process.once('SIGUSR2', letGo);
    const queue = createBullmqQueue({
      url: ${JSON.stringify(redis.url)}, concurrency: 1, lockMs: ${lockMs}, clock: Date.now, onNotice() {},
    });
    queue.work(async ({ step, attempt }) => {
      console.log('began ' + step + ' ' + attempt);
      await open;
      console.log('ended ' + step + ' ' + attempt);
    }, { onError: console.log });
  `);
  children.push(child);
  return child;
}

describe('the step of a worker process', () => {
  it('is handed out again however often its workers die', async () => {
    const { queue, worker } = open({ url: redis.url, lockMs });
    await queue.add(stepsOf('run-a', 1));
    for (let deaths = 0; deaths < 3; deaths += 1) {
      const child = startWorker();
      await child.printed('began batch 0 1');
      await child.kill();
    }
    worker.start();
    await settled(() => expect(worker.names()).toEqual(['run-a batch 0 1']));
  });

  it('is handed out again when the process freezes; on waking, the process continues with the next one', async () => {
    const { queue, worker } = open({ url: redis.url, lockMs });
    const child = startWorker();
    await queue.add(stepsOf('run-a', 1));
    await child.printed('began batch 0 1');
    await child.freeze();
    worker.start();
    await settled(() => expect(worker.log).toContain('ended run-a batch 0 1'));
    await queue.close();
    child.wake('SIGUSR2');
    await child.printed('ended batch 0 1');
    const { queue: feeding } = open({ url: redis.url });
    await feeding.add([{ runId: 'run-a', step: 'batch 1', attempt: 1 }]);
    await child.printed('ended batch 1 1');
    expect(worker.names()).toEqual(['run-a batch 0 1']);
  });
});

describe('a process that has closed its queue exits', () => {
  /** Runs a script that has a `queue`, and `held`: a step in hand that ends when it is aborted. */
  async function runToEnd(script: string, port = redis.port): Promise<string> {
    const source = `
      const { createBullmqQueue } = await import(${JSON.stringify(module)});
      const queue = createBullmqQueue({
        url: 'redis://127.0.0.1:${port}', concurrency: 2, lockMs: 600, answerMs: ${answerMs}, clock: Date.now, onNotice() {},
      });
      const step = { runId: 'run-a', step: 'batch 0', attempt: 1 };
      let tell;
      const held = new Promise((resolve) => { tell = resolve; });
      const work = () => queue.work((_, signal) => new Promise((resolve) => {
        signal.addEventListener('abort', resolve);
        tell();
      }), { onError: console.error });
      const announced = (line) => new Promise((resolve) => {
        console.log(line);
        process.stdin.once('data', resolve);
      });
      ${script}
      process.stdin.destroy();
      console.log('closed');
    `;
    const running = promisify(execFile)(process.execPath, ['--input-type=module', '-e', source], {
      timeout: patienceMs,
    });
    running.child.stdout?.on('data', async (line: string) => {
      if (line.includes('kill')) await redis.kill();
      else if (line.includes('freeze')) await redis.freeze();
      else if (line.includes('swallow')) proxy.blackHole();
      else return;
      running.child.stdin?.write('done\n');
    });
    const { stdout, stderr } = await running;
    expect(stderr).toBe('');
    return stdout;
  }

  it.each([
    [
      'while it waits for work',
      'work(); await queue.add([]); await queue.waitForCapacity(); await queue.close();',
    ],
    [
      'with a step in hand',
      'work(); await queue.add([step]); await held; await queue.close({ graceMs: 50 });',
    ],
    [
      'while it is held off',
      'await queue.holdOff(Date.now() + 3600000); work(); await queue.add([step]); await queue.close();',
    ],
  ])('%s', async (_when, script) => {
    expect(await runToEnd(script)).toContain('closed');
  });

  describe.each(['kill', 'freeze', 'swallow'])('even though Redis no longer answers (%s)', (fault) => {
    it.each([
      [
        'while it waits for work',
        `work(); await queue.add([]); await queue.waitForCapacity(); await announced('${fault}'); await queue.close();`,
      ],
      [
        'with a step in hand',
        `work(); await queue.add([step]); await held; await announced('${fault}'); await queue.close({ graceMs: 50 });`,
      ],
      [
        'some time after',
        `work(); await queue.add([step]); await held; await announced('${fault}');
         await queue.add([step]).catch(() => {}); await queue.add([step]).catch(() => {}); await queue.close();`,
      ],
    ])('%s', async (_when, script) => {
      expect(await runToEnd(script, proxy.port)).toContain('closed');
    });
  });
});
