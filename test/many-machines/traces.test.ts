import { expect, it } from 'vitest';
import { day } from '../support/day-folder.js';
import { createGate } from '../support/gate.js';
import { success } from '../support/http-stand-in.js';
import { startOtlpReceiver } from '../support/otlp-receiver.js';
import { usePostgres, useRedis } from '../support/use-servers.js';
import { prepareMachines, stepsPerProcess } from './machines.js';

const redis = useRedis();
const postgres = usePostgres();

it('the steps that workers perform are children of the run that another process has started', async () => {
  const receiver = await startOtlpReceiver();
  const { env } = receiver;
  const machines = await prepareMachines({
    postgres: postgres(),
    redis: redis(),
    bookings: 200,
    // Enough for both workers to get some.
    handler: () => ({
      kind: 'json',
      body: { Status: true, Message: 'Success', StatusCode: 2000 },
      delayMs: 20,
    }),
  });
  const workers = await Promise.all([machines.startWorker({ env }), machines.startWorker({ env })]);
  const { exitCode, json } = await machines.folder.run(['run', '--day', day, '--json', '--detach'], { env });
  expect(exitCode).toBe(0);
  await machines.database.until(({ state }) => state === 'succeeded');
  for (const worker of workers) worker.kill('SIGTERM');
  await Promise.all(workers.map(({ ended }) => ended));

  const run = receiver.span('run');
  expect(run.attributes['hotel_review.run.id']).toBe((json as { runId: string }).runId);
  const steps = receiver.named('step batch');
  expect(steps).toHaveLength(20);
  for (const { traceId, parentSpanId } of steps)
    expect({ traceId, parentSpanId }).toEqual({ traceId: run.traceId, parentSpanId: run.spanId });
  const performers = new Set(steps.map(({ resource }) => resource['service.instance.id']));
  expect(performers.size).toBe(2);
  expect(performers).not.toContain(run.resource['service.instance.id']);
});

it('a run that is joined after its starter was killed stays one trace, to which the new process links', async () => {
  const receiver = await startOtlpReceiver();
  const { env } = receiver;
  const gate = createGate();
  const machines = await prepareMachines({
    postgres: postgres(),
    redis: redis(),
    bookings: 100,
    async handler(request) {
      await request.readBody();
      await gate.passed;
      return success;
    },
  });
  const worker = await machines.startWorker({ env });
  const starter = machines.folder.start(['run', '--day', day, '--json'], { env });
  // Both perform steps, so the day is collected.
  await machines.standIn.received(2 * stepsPerProcess);
  starter.kill('SIGKILL');
  await starter.ended;
  const joining = machines.folder.start(['run', '--day', day, '--json'], { env });
  await machines.standIn.received(3 * stepsPerProcess);
  gate.open();
  expect((await joining.ended).exitCode).toBe(0);
  worker.kill('SIGTERM');
  await worker.ended;

  const joined = receiver.span('run');
  expect(joined.attributes['hotel_review.run.joined']).toBe(true);
  const steps = receiver.named('step batch');
  const [first] = steps;
  expect(joined.links).toEqual([{ traceId: first?.traceId, spanId: first?.parentSpanId }]);
  expect(joined.traceId).not.toBe(first?.traceId);
  expect(new Set(steps.map(({ traceId, parentSpanId }) => `${traceId} ${parentSpanId}`)).size).toBe(1);
  expect(new Set(steps.map(({ resource }) => resource['service.instance.id'])).size).toBe(2);
});
