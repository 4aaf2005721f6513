import { describe, expect, it } from 'vitest';
import { renderCalendar } from '../../../src/desk/calendar.js';
import type { ShownDay } from '../../../src/desk/calendar.js';
import { listDays, someDay } from './some-days.js';

/** What the cell of a day is, without the element around it. */
function cellOf(changes: Partial<ShownDay>): string {
  const { markup } = renderCalendar([someDay('2026-11-20', changes)]);
  return /<li>(<(?:a|span).*?)<\/li>/.exec(markup.slice(markup.indexOf('<ol')))?.[1] ?? '';
}

describe('a cell of the calendar', () => {
  it.each([
    ['good', 'good', '20 Nov: good, 990 bookings'],
    ['sent', 'busy', '20 Nov: sent, 990 bookings'],
    ['attention', 'bad', '20 Nov: needs attention: Look &amp; act.'],
    ['unfinished', 'wait', '20 Nov: not finished: Look &amp; act.'],
  ] as const)('says that its day is %s by colour, sign and text', (judgement, colour, text) => {
    expect(cellOf({ judgement, headline: 'Look & act.', isGood: judgement !== 'attention' })).toBe(
      `<a class="${colour}" href="/days/2026-11-20" aria-label="${text}">20<svg><use href="#${judgement}"/></svg></a>`,
    );
  });

  it('looks calmer if the day is good and only its bookings need attention', () => {
    expect(cellOf({ judgement: 'attention', headline: '2 bookings on an incorrect mapping.' })).toMatch(
      /^<a class="work" .*#attention/,
    );
  });

  it('shows a missing day just as clearly, and links to no day that is not due', () => {
    expect(cellOf({ judgement: 'missing', how: null, counts: null })).toContain(
      'class="missing" href="/days/2026-11-20" aria-label="20 Nov: missing"',
    );
    expect(cellOf({ judgement: 'not-due', isDue: false })).toBe('<span>20</span>');
  });

  it.each([
    [{ how: 'catch-up', isLate: true }, 'CL', 'catch-up, late'],
    [{ how: 'replay' }, 'R', 'replay'],
    [{ how: 'hook' }, 'H', 'hook'],
    [{ how: 'manual' }, 'M', 'started by a person'],
    [{ how: 'today' }, 'T', 'so far today'],
    [{ isLate: true }, 'L', 'late'],
  ] as const)('marks how its day ran: %o', (changes, letters, words) => {
    const cell = cellOf(changes);
    expect(cell).toContain(`data-how="${letters}"`);
    expect(cell).toContain(`bookings; ${words}"`);
  });

  it('escapes and shortens untrusted text', () => {
    const cell = cellOf({
      judgement: 'attention',
      headline: `"><script>\u202ealert(1)</script>${'x'.repeat(900)}`,
    });
    expect(cell).toContain('&quot;&gt;&lt;script&gt;\\u202e');
    expect(cell).not.toContain('<script>');
    expect(cell.length).toBeLessThan(300);
  });
});

it('Months are shown from the newest to the oldest, each from the weekday of its first day', () => {
  const { markup } = renderCalendar(listDays('2026-10-01', 40).map((day) => someDay(day)));
  expect(
    [...markup.matchAll(/<h3>([^<]*)<\/h3>.*?<ol class="([^"]*)">/gs)].map(([, ...found]) => found),
  ).toEqual([
    ['November 2026', 'from-7'],
    ['October 2026', 'from-4'],
  ]);
});
