import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { renderRunMetrics } from '../../../jobs/metrics-file.js';
import { someDay } from '../../desk/server/some-facts.js';
import { timezone } from '../../desk/server/some-server.js';
import { projectFile } from '../../support/compose-file.js';
import { checkMetrics, promtool, promtoolNeeds } from '../../support/promtool.js';
import { makeTemporaryFolder } from '../../support/temporary-folder.js';
import { ended, facts, page, rules, rulesText, served, shown, written } from './monitoring.js';

const testsText = projectFile('ops/prometheus/alerts.test.yml');

function temporaryFolder(files: Readonly<Record<string, string>>): string {
  const folder = makeTemporaryFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

describe('docs/every-night.md', () => {
  it('has a configuration of Prometheus that promtool accepts', ({ skip }) => {
    skip(promtoolNeeds !== undefined, promtoolNeeds);
    const sample = /```yaml\n(# prometheus\.yml\n[\s\S]*?)```/.exec(page)?.[1] ?? '';
    const text = sample.replace(/\/\S+\/(alerts\.yml|hotel-review-token)/g, '$1');
    const cwd = temporaryFolder({
      'prometheus.yml': text,
      'alerts.yml': rulesText,
      'hotel-review-token': 'a token',
    });
    const checked = promtool(['check', 'config', 'prometheus.yml'], { cwd });
    expect(checked).toEqual({ status: 0, text: expect.stringContaining(`${rules.length} rules found`) });
    expect(sample).toContain('job_name: hotel-review ');
    expect(rulesText).toContain('up{job="hotel-review"}');
  });
});

describe('the metrics', () => {
  it('pass the checks of promtool, served and in a file', ({ skip }) => {
    skip(promtoolNeeds !== undefined, promtoolNeeds);
    expect(checkMetrics(served)).toEqual([]);
    expect(checkMetrics(written)).toEqual([]);
    expect(checkMetrics(`${written}\nhotel_review_broken{ 1\n`)).not.toEqual([]);
  });

  it('can hold any provider name in a form that Prometheus reads', async ({ skip }) => {
    skip(promtoolNeeds !== undefined, promtoolNeeds);
    const names = [
      '"',
      '\\',
      '\\n',
      'a\nb',
      '{provider="x"} 5',
      '酒店',
      ' ',
      '\u001b[2J',
      '\ud83c\udfe8',
      '=',
    ];
    const providers = new Map(names.map((name, index) => [name, index]));
    const text = await renderRunMetrics(ended, {
      facts: { ...facts, latestDay: { ...someDay, providers } },
      ...{ names: [], timezone },
    });
    expect(checkMetrics(text)).toEqual([]);
    expect(text.match(/^hotel_review_latest_day_provider_bookings\{/gm)).toHaveLength(names.length);
  });
});

describe('what the alerts and the dashboard read', () => {
  it('is written in a way that Prometheus reads', ({ skip }) => {
    skip(promtoolNeeds !== undefined, promtoolNeeds);
    const recorded = shown.map(({ expr }, index) => ({
      record: `panel:${index}`,
      expr: expr.replaceAll('$__rate_interval', '5m'),
    }));
    const check = (list: readonly object[]) =>
      promtool(['check', 'rules', 'panels.yml'], {
        cwd: temporaryFolder({ 'panels.yml': stringify({ groups: [{ name: 'panels', rules: list }] }) }),
      });
    expect(check(recorded)).toEqual({
      status: 0,
      text: expect.stringContaining(`${shown.length} rules found`),
    });
    expect(check([{ record: 'panel:x', expr: 'max(up' }]).status).not.toBe(0);
  });
});

describe('ops/prometheus', () => {
  it('fires each alert in a test, and promtool agrees', ({ skip }) => {
    for (const { alert } of rules) expect(testsText).toContain(alert);
    skip(promtoolNeeds !== undefined, promtoolNeeds);
    const run = (alerts: string, tests = testsText) =>
      promtool(['test', 'rules', 'alerts.test.yml'], {
        cwd: temporaryFolder({ 'alerts.yml': alerts, 'alerts.test.yml': tests }),
      });
    expect(run(rulesText)).toEqual({ status: 0, text: expect.stringContaining('SUCCESS') });
    // The test of one alert is enough to see that a wrong alert fails: promtool takes seconds for all of them.
    const { tests, ...others } = parse(testsText) as { readonly tests: readonly { readonly name: string }[] };
    const ofOne = stringify({
      ...others,
      tests: tests.filter(({ name }) => name.startsWith('nothing is known')),
    });
    expect(run(rulesText, ofOne).status).toBe(0);
    expect(
      run(rulesText.replace(/(alert: HotelReviewNoGoodDay\n.+\n +for:) 1h/, '$1 2h'), ofOne).status,
    ).not.toBe(0);
  });
});
