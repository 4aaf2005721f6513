import { describe, expect, it, vi } from 'vitest';
import { serve } from '../many-machines/serving.js';
import { type DayFolder, prepareDay, type Settings } from '../support/day-folder.js';
import { success } from '../support/http-stand-in.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { createMappingTruth, fillCopyOf, mappingOf, type TrueMapping } from '../support/mapping-truth.js';
import { patienceMs } from '../support/patience.js';

type Made = ReturnType<typeof makeBookings>[0];

const seenAt = Date.UTC(2026, 10, 1);
const movedAt = Date.UTC(2026, 10, 22);

/** Stays in the future until 2031, and plausible, except the last one. */
const bookings = makeBookings(40).map((booking, index) => {
  const year = index === 39 ? '2026' : '2031';
  return { ...booking, CheckInDate: `${year}-01-02`, CheckOutDate: `${year}-01-09` };
});
const [rePointed, deleted] = bookings as [Made, Made];
const past = bookings.at(-1) as Made;

const truthOf = (
  { ServiceId, ProviderName, ProviderHotelId }: Made,
  changes: Partial<TrueMapping> = {},
): TrueMapping => ({
  ...{ serviceId: ServiceId, provider: ProviderName, hotel: ProviderHotelId },
  ...{ location: 'L', channels: ['B2C'], changedAt: seenAt },
  ...changes,
});

/** A folder whose day was reviewed, and a service whose mappings can move. */
async function prepareReviewed(settings: Settings = {}) {
  const truth = createMappingTruth(bookings.map((booking) => truthOf(booking)));
  const service = { isAway: false };
  const { folder } = await prepareDay({ bookings: toCsv(bookings), settings }, (request) => {
    if (request.method !== 'GET') return success;
    return service.isAway ? { kind: 'json', status: 401, body: {} } : truth.answer(request);
  });
  expect((await folder.runDay()).exitCode).toBe(0);
  return { folder, truth, service };
}

const sync = (folder: DayFolder, ...args: readonly string[]) =>
  folder.run(['mappings', 'sync', '--json', ...args]);
const nothing = { checkedMoves: 0, findings: [] };

/** As a sync would leave the copy whose process was killed before it looked at the stays. */
const leaveMoved = (folder: DayFolder) =>
  fillCopyOf(
    folder,
    { rows: bookings.map(mappingOf), at: seenAt },
    { rows: [{ ...mappingOf(rePointed), serviceId: 5 }], at: movedAt },
  );

describe('mappings sync', () => {
  it('finds each stay that is not over and whose mapping moved, once, and names its case', async () => {
    const { folder, truth } = await prepareReviewed();
    expect(await sync(folder)).toMatchObject({ exitCode: 0, json: { added: 40, watch: nothing } });
    const changedAt = Date.now();
    truth.change(
      truthOf(rePointed, { serviceId: 5, changedAt }),
      truthOf(deleted, { isDeleted: true, changedAt }),
      truthOf(past, { serviceId: 6, changedAt }),
    );
    expect(await sync(folder)).toMatchObject({
      exitCode: 0,
      json: {
        ...{ moved: 2, deleted: 1 },
        watch: {
          checkedMoves: 3,
          findings: [
            { providerHotelId: rePointed.ProviderHotelId, copyServiceId: 5, move: 're-pointed' },
            { providerHotelId: deleted.ProviderHotelId, copyServiceId: null, move: 'unmapped', bookings: 1 },
          ],
        },
      },
    });
    const again = await folder.run(['mappings', 'sync']);
    expect(again.stdout).toContain('No mapping has moved since the last watch.\n');
    const { json } = await folder.run(['cases', '--json']);
    expect(json).toMatchObject({ cases: [{ origins: ['watch'] }, { origins: ['watch'] }] });
  });

  it('looks at what an interrupted one left, whatever it syncs itself', async () => {
    const { folder } = await prepareReviewed();
    await leaveMoved(folder);
    const { json } = await sync(folder, '--provider-family', 'nobody');
    const finding = {
      providerName: rePointed.ProviderName,
      providerHotelId: rePointed.ProviderHotelId,
      serviceId: rePointed.ServiceId,
      copyServiceId: 5,
      copy: 'mapped',
      move: 're-pointed',
      bookings: 1,
      caseId: expect.any(Number),
    };
    expect(json).toHaveProperty('watch', { checkedMoves: 1, findings: [finding] });
  });

  it('looks at nothing if it failed', async () => {
    const { folder, service } = await prepareReviewed();
    await leaveMoved(folder);
    service.isAway = true;
    expect((await sync(folder)).exitCode).toBe(1);
    expect((await folder.run(['cases', '--json'])).json).toMatchObject({ cases: [] });
    service.isAway = false;
    expect((await sync(folder, '--provider-family', 'nobody')).json).toMatchObject({
      watch: { checkedMoves: 1, findings: [{ copyServiceId: 5 }] },
    });
  });

  it('shows what it found as a table, without guests', async () => {
    const { folder } = await prepareReviewed();
    await leaveMoved(folder);
    const { stdout, stderr } = await folder.run([
      ...['mappings', 'sync', '--provider-family', 'nobody', '--log-level', 'trace'],
    ]);
    expect(stdout).toContain(
      '1 move of mappings compared with the current and upcoming stays: 1 booking may lead to another',
    );
    expect(stdout).toContain(' re-pointed to another master hotel');
    expect(stderr).toContain('"msg":"mappings watched"');
    expect(stdout + stderr).not.toContain(rePointed.BookingClientName);
  });
});

describe('serve', () => {
  it('opens cases for what its syncs move', async () => {
    const { folder, truth } = await prepareReviewed({ mappings: { cron: '0 1 * * *' } });
    await fillCopyOf(folder, { rows: bookings.map(mappingOf), at: seenAt });
    truth.change(
      truthOf(rePointed, { serviceId: 5, changedAt: movedAt }),
      truthOf(deleted, { isDeleted: true, changedAt: movedAt }),
    );
    const serving = await serve(folder);
    await vi.waitUntil(
      async () => {
        const { json } = await folder.run(['cases', '--json']);
        const { cases } = json as unknown as { readonly cases: readonly unknown[] };
        return cases.length === 2;
      },
      { timeout: patienceMs, interval: 100 },
    );
    serving.command.kill('SIGTERM');
    expect((await serving.command.ended).exitCode).toBe(0);
  });
});
