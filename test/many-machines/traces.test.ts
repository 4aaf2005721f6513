import { expect, it } from 'vitest';
import { day } from '../support/day-folder.js';
import { startOtlpReceiver } from '../support/otlp-receiver.js';
import { usePostgres, useRedis } from '../support/use-servers.js';
import { prepareMachines } from './machines.js';

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
