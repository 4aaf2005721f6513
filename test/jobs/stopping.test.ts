import { describe, expect, it } from 'vitest';
import { apiKey, day } from '../support/day-folder.js';
import { expectEachOnce, expectReport } from '../support/expectations.js';
import {
  refusal,
  type StandInAnswer,
  type StandInHandler,
  startStandIn,
  success,
} from '../support/http-stand-in.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { prepareDay } from '../support/prepared-day.js';

const bookings = makeBookings(400);
const settings = { body: { batchSize: 10, concurrency: 4 } };
const goOn = `hotel-review run --day ${day}`;

const prepare = (handler: StandInHandler) => prepareDay({ bookings: toCsv(bookings), settings }, handler);

function headerOf({ rawHeaders }: { readonly rawHeaders: readonly string[] }, name: string) {
  return rawHeaders[rawHeaders.indexOf(name) + 1];
}

describe('a call that no retry mends', () => {
  it.each([
    ['403', { kind: 'text', status: 403, body: 'Forbidden' }],
    ['401', { kind: 'json', status: 401, body: { code: 401, message: 'who are you?' } }],
    ['404', { kind: 'text', status: 404, body: '' }],
    ['426', { kind: 'text', status: 426, body: '' }],
    ['200 with Status false and 2003', refusal(2003)],
  ] satisfies [string, StandInAnswer][])(
    '%s stops everything after at most one call per connection in flight',
    async (_, answer) => {
      const { standIn, folder } = await prepare(() => answer);
      const result = await folder.runDay();
      expectReport(result, { exitCode: 1, state: 'failed', counts: { delivered: 0, pending: 400 } });
      expect(standIn.requests.length).toBeLessThanOrEqual(4);
      expect(result.report.error?.class).toBe('fatal');
      expect(result.report.error?.message).toContain(
        'Check service.baseUrl, apiKey and accountId. Then run 2026-11-20 again.',
      );
      expect(result.stderr).toContain(goOn);
    },
  );

  it('403 in the middle of the day: with the new key, the next run delivers what is left', async () => {
    const newKey = 'a-key-that-is-valid';
    const { standIn, folder } = await prepare((request, number) =>
      number <= 6 || headerOf(request, 'apikey') === newKey
        ? success
        : { kind: 'text', status: 403, body: '' },
    );
    const result = await folder.runDay();
    expectReport(result, { exitCode: 1, state: 'failed' });
    expect(result.report.counts.delivered).toBe(60);
    expect(standIn.requests.length).toBeLessThanOrEqual(6 + 4);
    for (const request of standIn.requests) expect(headerOf(request, 'apikey')).toBe(apiKey);

    const before = standIn.requests.length;
    await folder.configure({ service: { apiKey: newKey } });
    const again = await folder.runDay();
    expectReport(again, { exitCode: 0, state: 'succeeded', counts: { delivered: 400, repeated: 0 } });
    expect(again.report.runId).toBe(result.report.runId);
    expect(standIn.requests.length - before).toBe(34);
    expectEachOnce(standIn, bookings);
  });

  it.each([301, 302, 307, 308])('a redirect (%i) is not followed', async (status) => {
    const elsewhere = await startStandIn();
    const location = `${elsewhere.baseUrl}/hotels/ReviewMappingsOfBookedHotels`;
    const { standIn, folder } = await prepare(() => ({
      kind: 'text',
      status,
      body: '',
      headers: { location },
    }));
    const result = await folder.runDay();
    expectReport(result, { exitCode: 1, state: 'failed', counts: { delivered: 0 } });
    expect(result.report.error?.class).toBe('fatal');
    expect(result.report.error?.message).toContain(`http-${status}`);
    expect(standIn.requests.length).toBeLessThanOrEqual(4);
    expect(elsewhere.connections).toBe(0);
    await elsewhere.close();
  });
});

describe.each(['SIGINT', 'SIGTERM'] as const)('%s while the service hangs', (signal) => {
  it('stops soon, says how to go on, and the next run goes on', async () => {
    let hangs = true;
    const { standIn, folder } = await prepare((_, number) =>
      hangs && number > 3 ? { kind: 'hang' } : success,
    );
    const command = folder.start(['run', '--day', day, '--json']);
    await standIn.received(3 + 4);
    command.kill(signal);
    // The tests' own limit is far off; this one is what was promised, twice.
    const tooLate = setTimeout(() => command.kill('SIGKILL'), 10_000);
    const result = await command.ended;
    clearTimeout(tooLate);
    expectReport(result, { exitCode: 1, state: 'delivering', counts: { delivered: 30, pending: 370 } });
    expect(result.report.finishedAt).toBeNull();
    expect(result.stderr).toContain(goOn);
    expect(standIn.requests).toHaveLength(3 + 4);

    hangs = false;
    const again = await folder.runDay();
    expectReport(again, { exitCode: 0, state: 'succeeded', counts: { delivered: 400, repeated: 40 } });
    expect(again.report.runId).toBe(result.report.runId);
    expectEachOnce(standIn, bookings);
  });

  it('lets the calls in hand end when they end soon, so that nothing is sent twice', async () => {
    let isSlow = true;
    const { standIn, folder } = await prepare(() => (isSlow ? { ...success, delayMs: 500 } : success));
    const command = folder.start(['run', '--day', day, '--json']);
    await standIn.received(4);
    command.kill(signal);
    const result = await command.ended;
    expectReport(result, { exitCode: 1, state: 'delivering' });
    expect(result.report.counts.delivered).toBe(standIn.accepted().length);
    isSlow = false;
    expectReport(await folder.runDay(), { exitCode: 0, state: 'succeeded', counts: { repeated: 0 } });
    expectEachOnce(standIn, bookings);
  });
});

it('a second Ctrl-C stops at once, and the next run goes on', async () => {
  let hangs = true;
  const { standIn, folder } = await prepare(() => (hangs ? { kind: 'hang' } : success));
  const command = folder.start(['run', '--day', day, '--json']);
  await standIn.received(4);
  command.kill('SIGINT');
  await command.wrote('once more stops at once');
  command.kill('SIGINT');
  const result = await command.ended;
  expect(result.exitCode).toBe(1);
  hangs = false;
  expectReport(await folder.runDay(), { exitCode: 0, state: 'succeeded', counts: { repeated: 40 } });
  expectEachOnce(standIn, bookings);
});
