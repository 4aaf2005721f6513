import { describe, expect, it, onTestFinished } from 'vitest';
import { createServiceClient } from '../../src/service/client.js';
import { account, rightBooking, startedService } from './started-service.js';

const notDone = { kind: 'retryable', outcomeUnknown: false };
const perhapsDone = { kind: 'retryable', outcomeUnknown: true };

describe('The client', () => {
  it.each([
    ['status:500@1', { ...notDone, httpStatus: 500 }, 0],
    ['status:503:2@1', { ...notDone, httpStatus: 503, retryAfterMs: 2_000 }, 0],
    ['status:429@1', { ...notDone, httpStatus: 429 }, 0],
    ['status:403@1', { kind: 'fatal', httpStatus: 403 }, 0],
    ['status:413@1', { kind: 'refused', httpStatus: 413 }, 0],
    ['refuse:2001@1', { ...notDone, statusCode: 2001 }, 0],
    ['refuse:2003@1', { kind: 'fatal', statusCode: 2003 }, 0],
    ['refuse:2009@1', { kind: 'refused', statusCode: 2009 }, 0],
    ['refuse:4242@1', { kind: 'retryable', statusCode: 4242, refusedWhenSpent: true }, 0],
    ['latency:0.01@1', { kind: 'accepted' }, 1],
    ['latency:60@1', perhapsDone, 1],
  ])('understands %s', async (fault, verdict, taken) => {
    const service = await startedService({ faults: [fault] });
    const client = createServiceClient({
      ...{ baseUrl: service.baseUrl, ...account, connections: 1 },
      ...{ timeoutMs: 2_000, connectTimeoutMs: 2_000, clock: () => new Date() },
    });
    onTestFinished(async () => {
      await client.close();
      await service.close();
    });
    const body = Buffer.from(JSON.stringify({ Hotels: [rightBooking] }));
    const { signal } = new AbortController();
    expect(await client.reviewBookedHotels(body, { signal })).toMatchObject(verdict);
    expect(service.counts).toMatchObject({ calls: 1, reviewed: taken });
  });
});
