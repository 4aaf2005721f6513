import { describe, expect, it } from 'vitest';
import { renderAffected } from '../../src/cli/affected.js';
import { someRun } from '../review/some-run.js';
import { command } from './plain-command.js';

const day = '2026-11-20';
const verdicts = { affected: 1, unanswered: 0, unclear: 0, malformed: 0 };
const reviewed = someRun({ delivery: 'file', file: { verdicts } });

describe('the affected bookings', () => {
  it('of a day without a run are told to be unknown', () => {
    expect(renderAffected(day, undefined, [], { command })).toBe('There is no run of 2026-11-20.\n');
  });

  it('of a run whose result is not home are told to be unknown', () => {
    const run = someRun({ state: 'awaiting-result', delivery: 'file', file: { rows: 3 } });
    expect(renderAffected(day, run, [], { command })).toBe(
      'No result of 2026-11-20 is home yet: run 20261120-k3f9xq7d is awaiting-result.\n',
    );
  });

  it("of a run by body are the service's to tell", () => {
    expect(renderAffected(day, someRun({ delivery: 'body' }), [], { command })).toBe(
      '2026-11-20 was reviewed by body: the service names affected bookings by e-mail alone (run 20261120-k3f9xq7d).\n',
    );
  });

  it('are told to be none where the result marks none', () => {
    expect(renderAffected(day, reviewed, [], { command })).toBe(
      '2026-11-20: the result marks no booking as affected (run 20261120-k3f9xq7d).\n',
    );
  });

  it('are a table, with nothing of the guest', () => {
    const text = renderAffected(
      day,
      reviewed,
      [
        {
          BookingReferenceId: 'BR-1042',
          ServiceId: 7,
          BookingClientName: 'Ana Lovelace',
          ProviderName: 'hotelbeds',
          ProviderHotelId: '00123',
          CheckInDate: '2026-11-20',
          CheckOutDate: '2026-11-23',
        },
        { BookingReferenceId: 'BR-2', ServiceId: 8 },
      ],
      { command },
    );
    const [title, ...table] = text.split('\n');
    expect(title).toBe('2026-11-20: affected bookings: 2 (run 20261120-k3f9xq7d)');
    expect(table.map((line) => line.trim().split(/ {2,}/))).toEqual([
      ['BookingReferenceId', 'ServiceId', 'ProviderName', 'ProviderHotelId', 'CheckInDate'],
      ['BR-1042', '7', 'hotelbeds', '00123', '2026-11-20'],
      ['BR-2', '8'],
      [''],
    ]);
  });

  it('are two hundred at most, and told where the others are', () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, number) => ({ BookingReferenceId: `BR-${number}` }));
    const all = renderAffected(day, reviewed, many(200), { command });
    expect(all).toContain('  BR-199');
    expect(all).not.toContain('more');
    const text = renderAffected(day, reviewed, many(1_300), { command });
    expect(text).toContain('2026-11-20: affected bookings: 1,300');
    expect(text).toContain('  BR-199');
    expect(text).not.toContain('BR-200');
    expect(text.split('\n').at(-2)).toBe('  … and 1,100 more; --csv FILE has them all');
  });

  it('are told to be in the file that was asked for', () => {
    const text = renderAffected(day, reviewed, [{ BookingReferenceId: 'BR-1' }], {
      command,
      csv: 'wrong.csv',
    });
    expect(text.split('\n').slice(-2)).toEqual(['All of them are in wrong.csv.', '']);
  });
});
