import { expect, it, onTestFinished } from 'vitest';
import { probeService } from '../../src/service/client.js';
import { type StandInAnswer, startStandIn } from '../support/http-stand-in.js';

const now = new Date('2026-11-20T02:30:00Z');

async function probe(answer: StandInAnswer, signal = new AbortController().signal) {
  const standIn = await startStandIn(() => answer);
  onTestFinished(() => standIn.close());
  const options = {
    apiKey: 'k',
    accountId: 'a',
    timeoutMs: 10_000,
    connectTimeoutMs: 10_000,
    clock: () => now,
  };
  return { standIn, answer: await probeService({ ...options, baseUrl: standIn.baseUrl }, { signal }) };
}

const dated = (date: string, status = 200): StandInAnswer => ({
  kind: 'json',
  status,
  headers: { date },
  body: { Status: true, StatusCode: 2000 },
});

it.each([200, 401, 503])('measures how far its clock is ahead of ours, even with HTTP %i', async (status) => {
  const { answer } = await probe(dated('Fri, 20 Nov 2026 02:28:00 GMT', status));
  expect(answer.difference).toEqual({ least: -120_000, most: -119_001 });
});

it('ignores an unreadable date', async () => {
  expect((await probe(dated('yesterday'))).answer).toEqual({
    verdict: expect.objectContaining({ kind: 'accepted' }),
  });
});

it('rejects with the reason of an abort', async () => {
  const controller = new AbortController();
  const stopped = new Error('stopped');
  controller.abort(stopped);
  await expect(probe({ kind: 'hang' }, controller.signal)).rejects.toBe(stopped);
});
