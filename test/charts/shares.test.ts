import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderShares, type ShareBar } from '../../src/charts/bars.js';
import { wilsonInterval } from '../../src/scorecard/scorecard.js';
import { broken } from './broken-chart.js';

function toShare(hits: number, of: number) {
  const interval = wilsonInterval(hits, of);
  return interval ? { value: hits / of, ...interval } : null;
}

const render = (bars: readonly ShareBar[]) => renderShares('Affected', bars)?.markup ?? '';

describe('shares', () => {
  it('have a bar, a whisker and the numbers in words', () => {
    const chart = render([
      {
        label: 'Bedlink',
        link: '/providers/Bedlink',
        share: { value: 0.02, low: 0.01, high: 0.04 },
        text: '20 of 1,000',
      },
    ]);
    expect(chart).toContain('<a href="/providers/Bedlink">Bedlink</a>');
    expect(chart).toContain('<strong>2.00 %</strong> (1.00 to 4.00), 20 of 1,000');
    expect(chart).toContain('width="50%" height="14"');
    expect(chart).toContain('<line class="whisker" x1="25%" x2="100%"');
  });

  it('keep their width when few bookings make an interval wide', () => {
    const chart = render([
      { label: 'A', share: { value: 0.02, low: 0.01, high: 0.03 }, text: '' },
      { label: 'B', share: { value: 0, low: 0, high: 0.8 }, text: '' },
    ]);
    expect(chart).toContain('width="25%" height="14"');
    expect(chart.match(/y1="5" y2="15"/g)).toHaveLength(3);
  });

  it('that are unknown have no bar, and say why', () => {
    const chart = render([{ label: 'Bedlink', share: null, text: 'by e-mail only', weeks: [null, null] }]);
    expect(chart).toContain('by e-mail only');
    expect(chart).not.toMatch(/<rect|sparkline| %/);
  });

  it('are left out where there are none', () => {
    expect(renderShares('Affected', [])).toBeUndefined();
  });

  it('contain no broken number, and escape untrusted text', () => {
    const count = fc.oneof(fc.nat(3), fc.nat(5_000_000));
    const bar = fc.record({
      hits: count,
      others: count,
      weeks: fc.array(fc.option(fc.double({ min: 0, max: 1, noNaN: true }))),
    });
    fc.assert(
      fc.property(fc.array(bar), (bars) => {
        const hostile = '<script>"\u001b';
        const chart = render(
          bars.map(({ hits, others, weeks }) => ({
            ...{ label: hostile, text: hostile, weeks, share: toShare(hits, hits + others) },
          })),
        );
        expect(chart).not.toMatch(broken);
        expect(chart).not.toMatch(/<script|"-/);
      }),
    );
  });
});

describe('the course of a share by week', () => {
  const renderWeeks = (weeks: ShareBar['weeks']) => render([{ label: 'A', share: null, text: '', weeks }]);

  it('has gaps where a week is unknown, and says its numbers', () => {
    const chart = renderWeeks([0.01, 0.02, null, 0.04, 0]);
    expect(chart).toContain('aria-label="Share by week: at last 0.00 %, at most 4.00 %; 1 week unknown"');
    expect(/class="line" d="([^"]*)"/.exec(chart)?.[1]?.match(/M/g)).toHaveLength(2);
  });

  it('of one week is a point', () => {
    expect(renderWeeks([0.5])).toContain('<circle cx="3" cy="3"');
  });

  it('is left out where no week is known', () => {
    expect(renderWeeks([])).not.toContain('sparkline');
    expect(renderWeeks([null])).not.toContain('sparkline');
  });
});
