import { afterEach, describe, expect, it } from 'vitest';
import type { WaitingReport } from '../../src/review/day/report.js';
import type { LedgerSummary } from '../../src/review/ledger.js';
import type { Run } from '../../src/review/run.js';
import { renderStatusPage } from '../../src/server/status-page.js';
import { someRun } from '../review/some-run.js';
import { noRuns, now, startServer, statusesOf, stopServers, timezone } from './some-server.js';

afterEach(stopServers);

function render(
  runs: readonly Run[],
  summary: Partial<LedgerSummary> = {},
  waits: ReadonlyMap<string, WaitingReport> = new Map(),
): string {
  return renderStatusPage({ runs, waits, summary: { runsByState: noRuns, ...summary }, now, timezone });
}

/** The texts of a page, without its markup. */
function read(page: string): string {
  const body = page.slice(page.indexOf('<body>'));
  return body.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
}

describe('the status page', () => {
  it('shows the last good day and how far behind it is', () => {
    expect(read(render([], { lastGoodDay: '2026-11-20' }))).toContain('Last good day 2026-11-20 up to date');
    expect(read(render([], { lastGoodDay: '2026-11-21' }))).toContain('2026-11-21 up to date');
    expect(read(render([], { lastGoodDay: '2026-11-19' }))).toContain('2026-11-19 1 day behind');
    expect(read(render([], { lastGoodDay: '2026-10-21' }))).toContain('2026-10-21 30 days behind');
    expect(read(render([]))).toContain('Last good day none yet');
  });

  it('shows a run with its counts, in local time', () => {
    const text = read(
      render([someRun({ trigger: 'schedule', counts: { accepted: 1_234_567, affected: 2 } })]),
    );
    expect(text).toContain(
      '2026-11-20 succeeded schedule, by body 1,234,567 990 0 0 3 2 2026-11-21 03:30 12.3 s',
    );
  });

  it('never shows 0 or green for verdicts that come by e-mail', () => {
    const run = someRun({ counts: { affected: null, unanswered: null } });
    const page = render([run], { lastGoodDay: '2026-11-20' });
    expect(read(page)).toContain('2026-11-20 sent manual, by body 990 990 0 0 3 by e-mail ');
    expect(read(page)).toContain('2026-11-20 sent, with verdicts by e-mail or not known');
    expect(page).not.toMatch(/class="(card good|state succeeded)"/);
    expect(render([someRun()], { lastGoodDay: '2026-11-20' })).toMatch(/card good.*state succeeded/s);
  });

  it('is not green for a day that was collected before it was over', () => {
    const page = render([someRun({ collectStartedAt: Date.parse('2026-11-20T22:59:59Z') })]);
    expect(read(page)).toContain('succeeded manual, by body, before the day was over 990 ');
    expect(page).toContain('class="state sent"');
  });

  it('shows how many bookings have no verdict, and the reason of a run', () => {
    const counts = { affected: 2, unanswered: 3, posted: 12 };
    const page = render([someRun({ delivery: 'file', trigger: 'replay', reason: 'again', counts })]);
    expect(read(page)).toContain(
      'succeeded replay, by file, 3 without a verdict, 12 by e-mail only: again 990 990 0 0 3 2 ',
    );
    expect(page).toContain('class="state sent"');
  });

  it('shows what a run waits for, in local time', () => {
    const run = someRun({ state: 'delivering' });
    const waiting = { step: 'batch 3', until: '2026-11-21T02:31:30.000Z', code: 'http-503' };
    const text = read(render([run, someRun({ id: 'other' })], {}, new Map([[run.id, waiting]])));
    expect(text).toContain('by body waiting until 2026-11-21 03:31 for batch 3 (http-503) 990 ');
    expect(text.match(/waiting until/g)).toHaveLength(1);
  });

  it('marks a run for late bookings', () => {
    const text = read(render([someRun({ trigger: 'replay', topsUp: true })]));
    expect(text).toContain('succeeded replay, late bookings, by body');
  });

  it('shows the suspects of a run, if it has any', () => {
    const text = (suspects: number) => read(render([someRun({ suspects: { suspects, filledIn: 0 } })]));
    expect(text(1_200)).toContain('succeeded manual, by body, 1,200 suspects');
    expect(text(0)).toContain('succeeded manual, by body 990');
  });

  it('shows why a run failed', () => {
    const message = 'the service refused the key; check service.apiKey and run it again';
    const failure = { class: 'fatal', code: 'http-401', message } as const;
    expect(read(render([someRun({ state: 'failed', failure })]))).toContain(message);
  });

  it('shows days without a run, from the first day in the ledger', () => {
    const runs = [someRun(), someRun({ day: '2026-11-17' })];
    const text = read(render(runs, { firstDay: '2026-11-17' }));
    expect(text).toMatch(/2026-11-20 succeeded.*2026-11-19 no run.*2026-11-18 no run.*2026-11-17 succeeded/);
    expect(text.match(/no run/g)).toHaveLength(2);
  });

  it('shows two weeks, and all runs of a day', () => {
    const runs = [
      someRun({ day: '2026-11-21', state: 'collecting' }),
      someRun({ id: 'replayed', trigger: 'replay' }),
      someRun({ state: 'cancelled' }),
      someRun({ day: '2026-11-07' }),
      someRun({ day: '2026-11-06' }),
    ];
    const page = render(runs);
    expect(read(page)).toMatch(/2026-11-21 collecting.*replay, by body.*2026-11-20 cancelled.*2026-11-07/);
    expect(read(page)).not.toContain('2026-11-06');
    expect(page).toContain('href="runs/replayed"');
  });

  it('escapes whatever it shows', () => {
    const message = `<script>alert("x")</script> & 'y'`;
    const run = someRun({ state: 'failed', failure: { class: 'data', code: 'x', message } });
    const page = render([run]);
    expect(page).not.toContain('<script');
    expect(page).toContain('&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; &#39;y&#39;');
  });

  it('is self-contained, and may load nothing', async () => {
    const { url } = await startServer({ statuses: statusesOf([someRun()], { lastGoodDay: '2026-11-20' }) });
    const response = await fetch(url);
    const page = await response.text();
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(page).toContain('<meta http-equiv="refresh" content="30">');
    expect(page).not.toMatch(/<script|<link|<img|src=|https?:/);
  });
});
