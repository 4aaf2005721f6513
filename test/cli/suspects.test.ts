import { describe, expect, it } from 'vitest';
import { renderSuspects } from '../../src/cli/suspects.js';
import type { SuspectReport } from '../../src/review/suspects/listing.js';
import { someRun } from '../review/some-run.js';
import { command } from './plain-command.js';

const day = '2026-11-20';
const movedAt = '2026-11-18T10:00:00.000Z';
const compared = someRun({ suspects: 3 });
const doubted: SuspectReport = {
  BookingReferenceId: 'BR-1042',
  ServiceId: 100_200,
  ProviderName: 'hotelbeds',
  ProviderHotelId: '00123',
  CheckInDate: '2026-12-01',
  reason: 'other-master',
  copyServiceId: 100_300,
  copy: 'mapped',
  movedAt: null,
};
const today = '2026-11-21';
const none = { count: 0, first: [] };

describe('the suspects of a day', () => {
  it('are unknown for a day without a run', () => {
    expect(renderSuspects(day, undefined, none, { command, today })).toBe('There is no run of 2026-11-20.\n');
  });

  it('are unknown where there was nothing to compare with', () => {
    expect(renderSuspects(day, someRun(), none, { command, today })).toBe(
      `2026-11-20 was not compared with the local copy of the mappings, which was empty
when run 20261120-k3f9xq7d started. To fill it: hotel-review mappings sync
`,
    );
  });

  it('may be none', () => {
    expect(renderSuspects(day, compared, none, { command, today })).toBe(
      '2026-11-20: the local copy of the mappings flags no booking (run 20261120-k3f9xq7d).\n',
    );
  });

  it('are a table that fits into a terminal, with the copy’s values', () => {
    const first: SuspectReport[] = [
      { ...doubted, movedAt },
      { ...doubted, reason: 'moved', movedAt },
      { ...doubted, reason: 'moved', copyServiceId: null, movedAt },
    ];
    const text = renderSuspects(day, compared, { count: 3, first }, { command, today, csv: 'doubted.csv' });
    expect(text).toBe(`2026-11-20: what the local copy of the mappings says (run 20261120-k3f9xq7d):
  suspects: 3 bookings whose mapping differs or changed recently
  booking  ServiceId  provider   hotel id  check-in    in the copy
  BR-1042     100200  hotelbeds     00123  2026-12-01  100300
  BR-1042     100200  hotelbeds     00123  2026-12-01  moved 2026-11-18
  BR-1042     100200  hotelbeds     00123  2026-12-01  deleted 2026-11-18
All of them are in doubted.csv.
`);
  });

  it('are the first of many, with a hint on how to get the others', () => {
    const text = renderSuspects(day, compared, { count: 1_201, first: [doubted] }, { command, today });
    expect(text).toContain('  … and 1,200 more; --csv FILE lists all\n');
  });
});
