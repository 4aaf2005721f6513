import { describe, expect, it } from 'vitest';
import { decideNotice, incidentOf, type LastNotice } from '../../src/rules/notice.js';

const known: LastNotice = { round: 2, isOver: false, severity: 'critical', reminders: 3 };

const about = { subject: '2026-11-20', day: '2026-11-20' };

describe('a notice', () => {
  it('is not sent again while the problem lasts', () => {
    expect(decideNotice({ ...about, event: 'run-failed' }, known)).toBeUndefined();
    expect(decideNotice({ ...about, event: 'run-failed', severity: 'warning' }, known)).toBeUndefined();
  });

  it('is sent again as a reminder when the problem gets worse', () => {
    expect(decideNotice({ ...about, event: 'run-failed' }, { ...known, severity: 'warning' })).toEqual({
      round: 2,
      reminder: 4,
    });
  });

  it('is sent once if it happens once', () => {
    expect(decideNotice({ ...about, event: 'affected-found' }, { ...known, isOver: true })).toBeUndefined();
  });

  it('about few bookings is a problem of the day, but only told if single providers are meant', () => {
    const over = { ...known, isOver: true };
    expect(decideNotice({ ...about, event: 'volume-dropped' }, over)).toEqual({ round: 3, reminder: 0 });
    const ofProviders = { ...about, event: 'volume-dropped', subject: 'providers on 2026-11-20' } as const;
    expect(decideNotice(ofProviders, over)).toBeUndefined();
    expect(incidentOf(ofProviders)).toBe('volume-dropped providers on 2026-11-20');
  });

  it('has one incident for all problems of a day and their recovery', () => {
    const incidents = (['run-failed', 'day-late', 'volume-dropped', 'day-recovered'] as const).map((event) =>
      incidentOf({ event, ...about }),
    );
    expect(new Set(incidents)).toEqual(new Set(['day 2026-11-20']));
    expect(incidentOf({ event: 'run-failed', ...about, subject: '2026-11-20 (watch)' })).toBe(
      'day 2026-11-20',
    );
    expect(incidentOf({ event: 'result-late', ...about })).toBe('day 2026-11-20');
    expect(incidentOf({ event: 'affected-found', ...about })).toBe('affected-found 2026-11-20');
  });
});
