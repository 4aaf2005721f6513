import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { renderBars, renderShares } from '../../src/charts/bars.js';
import { chartStyle } from '../../src/charts/chart-style.js';
import { renderHotelSketch } from '../../src/charts/hotel-sketch.js';
import { renderTimeline } from '../../src/charts/timeline.js';
import { Html, html } from '../../src/text/html.js';
import { expectNoAxeViolations, useBrowser } from '../support/browser.js';
import type { View } from '../support/chromium.js';

const start = Date.parse('2026-11-21T01:30:00Z');
const longName = 'A provider whose name is longer than the label of a bar can be';
const share = { value: 0.02, low: 0.01, high: 0.03 };

const charts = [
  renderBars('Providers', [{ label: longName, value: 40, text: '40', usual: 50 }]),
  renderShares('Affected', [{ label: longName, share, text: '20 of 1,000', weeks: [0.01, null, 0.03] }]),
  renderTimeline({
    ...{ title: 'Steps', timezone: 'Europe/Madrid', now: start + 600_000 },
    rows: [
      {
        ...{ label: 'await-result', words: 'waits until 02:41: the service asked for 60 s; attempt 3 of 6' },
        attempts: [start],
        segments: [
          { kind: 'done', from: start, to: start + 60_000 },
          { kind: 'failed', from: start + 60_000, to: start + 90_000 },
          { kind: 'wait', from: start + 90_000, to: start + 600_000 },
        ],
      },
    ],
  }),
  renderHotelSketch(
    { name: 'Hotel Ritz', place: { latitude: 40.4155, longitude: -3.6927 } },
    { name: longName, place: { latitude: 40.4175, longitude: -3.689 } },
  ),
];

/** The server has only this page, which shows them in these colours. */
const page = html`<!doctype html><html lang="en"><head><title>Charts</title><meta name="viewport" content="width=device-width, initial-scale=1"><style>
:root { color-scheme: light dark; --text: #1d2430; --faint: #566070; --ground: #f6f7f9; --card: #fff; --line: #dde1e7; --good: #17693a; --bad: #b3261e; --busy: #1d5fa8; --wait: #7d5200; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e9ee; --faint: #9aa4b2; --ground: #14171c; --card: #1d2128; --line: #333a45; --good: #6cc78f; --bad: #ff8a80; --busy: #84b9f5; --wait: #e5b567; } }
body { margin: 0; padding: 1rem; background: var(--ground); color: var(--text); font-family: sans-serif; } a { color: var(--busy); }
${new Html(chartStyle)}</style></head><body><main><h1>Charts</h1>${charts.map((chart) => html`<section>${chart}</section>`)}</main></body></html>`;

const browser = useBrowser();

async function openCharts(view?: View): Promise<Page> {
  const opened = await browser.open(view);
  await opened.route('http://127.0.0.1/**', (route) =>
    route.fulfill({ contentType: 'text/html; charset=utf-8', body: page.markup }),
  );
  await opened.goto('http://127.0.0.1/');
  return opened;
}

describe('all charts in a browser', () => {
  it.each([
    { size: 'wide', colours: 'light' },
    { size: 'phone', colours: 'dark' },
  ] as const)('fit a $size screen, and axe finds nothing in $colours colours', async (view) => {
    const opened = await openCharts(view);
    expect(await opened.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
    await expectNoAxeViolations(opened);
  });

  it('have texts of a size that can be read on a phone', async () => {
    const opened = await openCharts({ size: 'phone' });
    const smallest = await opened.evaluate<number>(
      'Math.min(...[...document.querySelectorAll("svg text")].map((one) => parseFloat(getComputedStyle(one).fontSize) * (one.getScreenCTM()?.a ?? 1)))',
    );
    expect(smallest).toBeGreaterThanOrEqual(12);
  });
});
