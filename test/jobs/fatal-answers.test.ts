import { describe, expect, it } from 'vitest';
import { apiKey, day, prepareDay } from '../support/day-folder.js';
import { engine, runsEveryCase } from '../support/engine.js';
import { expectEachOnce, expectReport } from '../support/expectations.js';
import {
  refusal,
  type StandInAnswer,
  type StandInHandler,
  startStandIn,
  success,
} from '../support/http-stand-in.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { isNightly } from '../support/nightly.js';

const bookings = makeBookings(400);
const settings = { body: { batchSize: 10, concurrency: 4 } };
/** Calls that are in flight at the same time. */
const inFlight = engine.performers * settings.body.concurrency;
const resumeCommand = `hotel-review run --day ${day}`;

const prepare = (handler: StandInHandler) => prepareDay({ bookings: toCsv(bookings), settings }, handler);

function headerOf({ rawHeaders }: { readonly rawHeaders: readonly string[] }, name: string) {
  return rawHeaders[rawHeaders.indexOf(name) + 1];
}

describe('a call that retrying cannot fix', () => {
  const answers = [
    ['401', { kind: 'json', status: 401, body: { code: 401, message: 'who are you?' } }],
    ['404', { kind: 'text', status: 404, body: '' }],
    ['426', { kind: 'text', status: 426, body: '' }],
    ['403', { kind: 'text', status: 403, body: 'Forbidden' }],
    ['200 with Status false and 2003', refusal(2003)],
  ] satisfies [string, StandInAnswer][];
  /** One by its status, one by its body: the tests of verdicts cover them all. */
  const daily = answers.slice(-2);
  it.each(runsEveryCase ? (isNightly ? answers : daily) : [])(
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
      expect(result.stderr).toContain(resumeCommand);
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

  it.each(runsEveryCase ? (isNightly ? [301, 302, 307, 308] : [302]) : [])(
    'a redirect (%i) is not followed',
    async (status) => {
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
    },
  );
});
