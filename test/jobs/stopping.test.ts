import { describe, expect, it } from 'vitest';
import { apiKey, day, prepareDay } from '../support/day-folder.js';
import { engine } from '../support/engine.js';
import { expectEachOnce, expectReport } from '../support/expectations.js';
import {
  refusal,
  type StandInAnswer,
  type StandInHandler,
  startStandIn,
  success,
} from '../support/http-stand-in.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';

const bookings = makeBookings(400);
const settings = { body: { batchSize: 10, concurrency: 4 } };
/** Calls that are in flight at the same time. */
const inFlight = engine.performers * settings.body.concurrency;
const goOn = `hotel-review run --day ${day}`;

const prepare = (handler: StandInHandler) => prepareDay({ bookings: toCsv(bookings), settings }, handler);

function headerOf({ rawHeaders }: { readonly rawHeaders: readonly string[] }, name: string) {
  return rawHeaders[rawHeaders.indexOf(name) + 1];
}

describe('a call that retrying cannot fix', () => {
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
      expect(standIn.requests.length).toBeLessThanOrEqual(inFlight);
      expect(result.report.error?.class).toBe('fatal');
      expect(result.report.error?.message).toContain(
        'Check service.baseUrl, apiKey and accountId. Then run 2026-11-20 again.',
      );
      expect(result.stderr).toContain(goOn);
    },
  );

  it('403 in the middle of the day: with the new key, the next run delivers the rest', async () => {
    const newKey = 'a-key-that-is-valid';
    const { standIn, folder } = await prepare((request, number) =>
      number <= 6 || headerOf(request, 'apikey') === newKey
        ? success
        : { kind: 'text', status: 403, body: '' },
    );
    const result = await folder.runDay();
    expectReport(result, { exitCode: 1, state: 'failed' });
    const ledger = folder.watchLedger();
    await ledger.atRest();
    expect((await ledger.run()).done).toBe(6);
    expect(standIn.requests.length).toBeLessThanOrEqual(6 + inFlight);
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
    expect(standIn.requests.length).toBeLessThanOrEqual(inFlight);
    expect(elsewhere.connections).toBe(0);
    await elsewhere.close();
  });
});

describe.each(['SIGINT', 'SIGTERM'] as const)('%s while the service hangs', (signal) => {
  it('stops soon, says how to continue, and the next run resumes', async () => {
    let hangs = true;
    const { standIn, folder } = await prepare((_, number) =>
      hangs && number > 3 ? { kind: 'hang' } : success,
    );
    folder.start(['run', '--day', day, '--json']);
    await standIn.received(3 + inFlight);
    folder.crew.signal(signal);
    // The tests' own limit is far off; this is twice the documented one.
    const tooLate = setTimeout(() => folder.crew.signal('SIGKILL'), 10_000);
    const result = await folder.crew.ended();
    clearTimeout(tooLate);
    expectReport(result, { exitCode: 1, state: 'delivering', counts: { delivered: 30, pending: 370 } });
    expect(result.report.finishedAt).toBeNull();
    expect(result.stderr).toContain(goOn);
    expect(standIn.requests).toHaveLength(3 + inFlight);

    hangs = false;
    const again = await folder.runDay();
    const counts = { delivered: 400, repeated: 10 * inFlight };
    expectReport(again, { exitCode: 0, state: 'succeeded', counts });
    expect(again.report.runId).toBe(result.report.runId);
    expectEachOnce(standIn, bookings);
  });

  it('waits for calls in flight that end soon, so that nothing is sent twice', async () => {
    let isSlow = true;
    const { standIn, folder } = await prepare(() => (isSlow ? { ...success, delayMs: 500 } : success));
    folder.start(['run', '--day', day, '--json']);
    await standIn.received(inFlight);
    folder.crew.signal(signal);
    const result = await folder.crew.ended();
    expectReport(result, { exitCode: 1, state: 'delivering' });
    expect((await folder.watchLedger().run()).done * 10).toBe(standIn.accepted().length);
    isSlow = false;
    expectReport(await folder.runDay(), { exitCode: 0, state: 'succeeded', counts: { repeated: 0 } });
    expectEachOnce(standIn, bookings);
  });
});

it('a second Ctrl-C stops at once, and the next run resumes', async () => {
  let hangs = true;
  const { standIn, folder } = await prepare(() => (hangs ? { kind: 'hang' } : success));
  const command = folder.start(['run', '--day', day, '--json']);
  await standIn.received(inFlight);
  folder.crew.signal('SIGINT');
  for (const one of [command, ...folder.crew.workers]) await one.wrote('again to stop at once');
  folder.crew.signal('SIGINT');
  const result = await folder.crew.ended();
  expect(result.exitCode).toBe(1);
  hangs = false;
  const counts = { repeated: 10 * inFlight };
  expectReport(await folder.runDay(), { exitCode: 0, state: 'succeeded', counts });
  expectEachOnce(standIn, bookings);
});
