import { describe, expect, it } from 'vitest';
import { checkClock } from '../../src/checks/doctor/service.js';
import type { Probe } from '../../src/service/client.js';

const accepted = { kind: 'accepted', code: 'ok', httpStatus: 200, statusCode: 2000 } as const;

function check(probe: Probe, { now = '2026-11-20T23:30:00Z', zone = 'Europe/Madrid' } = {}) {
  return checkClock({ clock: () => Date.parse(now), zone, askService: async () => probe });
}

describe('the clock', () => {
  it('is shown in the time zone, with the day that a run takes', async () => {
    expect(await check({ verdict: accepted })).toEqual([
      {
        part: 'clock',
        verdict: 'ok',
        message: 'it is 2026-11-21 00:30:00 in Europe/Madrid: run takes 2026-11-20',
      },
    ]);
    expect((await check({ verdict: accepted }, { zone: 'UTC' }))[0]?.message).toContain(
      'run takes 2026-11-19',
    );
  });

  it.each([0, 60_000, -60_000])('is close enough to the service when it is %i ms ahead', async (lead) => {
    expect(await check({ verdict: accepted, difference: { least: -lead, most: -lead } })).toHaveLength(1);
  });

  it.each([
    [125_000, '2 min 5 s ahead of that of the service'],
    [-61_000, '1 min 1 s behind that of the service'],
  ])('is a warning when it is %i ms ahead', async (lead, message) => {
    expect((await check({ verdict: accepted, difference: { least: -lead, most: -lead } }))[1]).toMatchObject({
      part: 'clock',
      verdict: 'warning',
      message: expect.stringContaining(message),
      advice: expect.stringContaining('NTP'),
    });
  });
});
