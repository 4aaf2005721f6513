import { describe, expect, it } from 'vitest';
import type { ShownDay } from '../../../src/desk/calendar.js';
import { renderCalendar } from '../../../src/desk/calendar.js';
import { listDays, someDay } from './some-days.js';

function renderMonthOf(changes: Partial<ShownDay>): string {
  const { markup } = renderCalendar([someDay('2026-11-20', changes)], '2026-11-20');
  return markup.slice(markup.indexOf('<ol'));
}

/** What the cell of a day is, without the element around it. */
function cellOf(changes: Partial<ShownDay>): string {
  return /<li>(.*?)<\/li>/.exec(renderMonthOf(changes))?.[1] ?? '';
}

/** The number of open bookings in it. */
function countOf(changes: Partial<ShownDay>): string | undefined {
  return /<b aria-hidden="true">([^<]*)</.exec(renderMonthOf(changes))?.[1];
}

describe('a cell of the calendar', () => {
  it.each([
    ['good', 'good', '20 Nov 2026: good, 990 bookings'],
    ['sent', 'busy', '20 Nov 2026: sent, 990 bookings'],
    ['attention', 'bad', '20 Nov 2026: needs attention: Look &amp; act.'],
    ['unfinished', 'wait', '20 Nov 2026: not finished: Look &amp; act.'],
  ] as const)('says that its day is %s by colour, sign and text', (ran, colour, text) => {
    expect(cellOf({ ran, headline: 'Look & act.', isGood: ran !== 'attention' })).toBe(
      `<a class="${colour}" href="/days/2026-11-20" title="${text}">20<svg><use href="#${ran}"/></svg></a>`,
    );
  });

  it('says with a sign of its own that bookings of its day are open, until all are resolved', () => {
    const wrong = { judgement: 'attention', ran: 'good' } as const;
    expect(cellOf({ ...wrong, openBookings: 2 })).toBe(
      '<a class="good" href="/days/2026-11-20" title="20 Nov 2026: good, 990 bookings, 2 open">20<svg><use href="#good"/></svg><b aria-hidden="true">2</b></a>',
    );
    expect(cellOf({ ...wrong, openBookings: 0 })).toBe(
      '<a class="good" href="/days/2026-11-20" title="20 Nov 2026: good, 990 bookings">20<svg><use href="#good"/></svg></a>',
    );
    expect(countOf({ ...wrong, openBookings: 2 })).toBe('2');
    expect(countOf({ ...wrong, openBookings: 0 })).toBeUndefined();
    expect(countOf({ ran: 'attention', isGood: false, openBookings: 1_200 })).toBe('99+');
  });

  it('escapes and shortens untrusted text', () => {
    const cell = cellOf({
      ran: 'attention',
      headline: `"><script>\u202ealert(1)</script>${'x'.repeat(900)}`,
    });
    expect(cell).toContain('&quot;&gt;&lt;script&gt;\\u202e');
    expect(cell).not.toContain('<script>');
    expect(cell.length).toBeLessThan(300);
  });
});

function listMonths(markup: string) {
  return [...markup.matchAll(/<h3>([^<]*)<\/h3>.*?<ol>((?:<li aria-hidden="true"><\/li>)*)/gs)].map(
    ([, month, empty = '']) => [month, empty.split('<li').length - 1],
  );
}

it('The calendar begins with the month of the first run, and folds the months before the newest three', () => {
  const days = listDays('2026-01-01', 330).map((day) =>
    someDay(day, day === '2026-07-03' ? { openBookings: 1 } : {}),
  );
  const { markup } = renderCalendar(days, '2026-06-15');
  const [newest = '', older = ''] = markup.split('<details>');
  expect(listMonths(newest).map(([month]) => month)).toEqual(['Nov 2026', 'Oct 2026', 'Sep 2026']);
  expect(listMonths(older).map(([month]) => month)).toEqual(['Aug 2026', 'Jul 2026', 'Jun 2026']);
  expect(older).toContain('<summary>3 older months, 1 day in need of attention</summary>');
  expect(renderCalendar(days.slice(0, 40), null).markup).not.toContain('Jan 2026');
});
