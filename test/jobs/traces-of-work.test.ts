import { describe, expect, it } from 'vitest';
import { prepareDay } from '../support/day-folder.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { fillCopyOf, mappingOf } from '../support/mapping-truth.js';
import { childrenOf, startOtlpReceiver } from '../support/otlp-receiver.js';

describe('work outside runs', () => {
  it('a watch is a trace with its counts', async () => {
    const receiver = await startOtlpReceiver();
    const bookings = makeBookings(3).map((booking) => ({
      ...booking,
      CheckInDate: '2199-01-02',
      CheckOutDate: '2199-01-09',
    }));
    const { folder } = await prepareDay({ bookings: toCsv(bookings) });
    await folder.runDay();
    const rows = bookings.map(mappingOf);
    const moved = { ...mappingOf(bookings[0] as (typeof bookings)[0]), serviceId: 5 };
    await fillCopyOf(
      folder,
      { rows, at: Date.UTC(2026, 10, 1) },
      { rows: [moved], at: Date.UTC(2026, 10, 25) },
    );
    expect((await folder.run(['watch'], { env: receiver.env })).exitCode).toBe(0);
    expect(receiver.spans()).toHaveLength(1);
    expect(receiver.span('watch')).toMatchObject({
      hasFailed: false,
      attributes: { 'hotel_review.watch.checked_moves': 1, 'hotel_review.watch.bookings': 1 },
    });
  });

  it('a sync and a request for an export are traces with their calls', async () => {
    const receiver = await startOtlpReceiver();
    const page = { Status: true, Message: 'Success', StatusCode: 2000, Mappings: [], ResumeKey: null };
    const { folder } = await prepareDay({ hasWorkers: false }, (_, number) =>
      number === 2 ? { kind: 'text', status: 503, body: 'odd' } : { kind: 'json', body: page },
    );
    const { env } = receiver;
    expect((await folder.run(['export', 'request', '--email', 'ops@example.com'], { env })).exitCode).toBe(0);
    await folder.run(['mappings', 'sync'], { env });

    const request = receiver.span('export request');
    expect(childrenOf(receiver, request)).toHaveLength(1);
    const sync = receiver.span('mappings sync');
    expect(sync.parentSpanId).toBeUndefined();
    expect(sync.traceId).not.toBe(request.traceId);
    const calls = childrenOf(receiver, sync);
    expect(calls.map(({ attributes }) => attributes['http.response.status_code'])).toEqual([503, 200]);
    expect(calls[1]?.attributes['url.path']).toBe('/api/3.0/mappings');
    expect(receiver.bytes().includes('ops@example.com')).toBe(false);
  });
});
