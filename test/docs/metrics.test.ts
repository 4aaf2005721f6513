import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse, stringify } from 'yaml';
import { renderRunMetrics } from '../../jobs/metrics-file.js';
import type { HotelReviewEvent } from '../../src/events/events.js';
import { severities } from '../../src/ledger/notice.js';
import { createEventCounters, createMetrics } from '../../src/server/metrics.js';
import { step } from '../events/review-events.js';
import { someRun } from '../review/some-run.js';
import { noCases, someDay, someFacts } from '../server/some-facts.js';
import { now, timezone } from '../server/some-server.js';
import { projectFile } from '../support/compose-file.js';
import { checkMetrics, promtool, promtoolNeeds } from '../support/promtool.js';

const page = projectFile('docs/every-night.md');
const rulesText = projectFile('ops/prometheus/alerts.yml');
const testsText = projectFile('ops/prometheus/alerts.test.yml');

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly type: string;
  readonly description?: string;
  readonly datasource?: object;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly {
    readonly refId: string;
    readonly expr: string;
    readonly datasource: object;
  }[];
}

const rules = (parse(rulesText) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(projectFile('ops/grafana/hotel-review.json')) as {
  readonly templating: { readonly list: readonly { readonly name: string; readonly type: string }[] };
  readonly panels: readonly Panel[];
};
const shown = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => ({ where: `panel ${title}`, expr })),
);
const used = [...rules.map(({ alert, expr }) => ({ where: alert, expr })), ...shown];

/** The rows of the tables: name, type and labels of a metric, and what is said about it. */
const documented = new Map(
  [...page.matchAll(/^\| `(hotel_review_\w+)` \| (\w+) \|([^|]*)\|(.*)\|$/gm)].map(
    ([, name = '', type = '', labels = '', meaning = '']) => [
      name,
      { type, labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label), meaning },
    ],
  ),
);
/** What others provide. */
const foreign = ['up', 'node_textfile_scrape_error'];

const ages = [{ place: 'archive' as const, ageDays: 3 }];
const facts = someFacts({
  summary: { ...someFacts().summary, lastGoodDay: '2026-11-19' },
  latestDay: someDay,
  cases: { ...noCases, firstCheckIn: '2026-12-01' },
  messages: { pending: 1, givenUp: 0, pendingSince: now },
  missedCanaries: 0,
  mappingsReach: now,
});

/** Metrics as served by a process in which everything has happened. */
async function serveEverything(): Promise<string> {
  const counters = createEventCounters(() => now);
  const metrics = createMetrics({
    counters,
    readFacts: async () => facts,
    queueDepth: async () => 1,
    oldestNames: async () => ages,
    clock: () => now,
    timezone,
  });
  const file = { verdicts: { affected: 2, unanswered: 3, unclear: 0, malformed: 0 } };
  const counts = { checkedMoves: 9, endangered: 3, unmapped: 1, bookings: 7, merged: 2, dismissed: 0 };
  const events: readonly HotelReviewEvent[] = [
    { type: 'step-claimed', run: someRun(), step, attempt: 1 },
    {
      type: 'step-ended',
      run: someRun(),
      step,
      attempt: 1,
      outcome: 'retry',
      evidence: { code: 'http-503' },
    },
    { type: 'source-late', run: someRun(), until: now },
    { type: 'settled', run: someRun({ file }) },
    { type: 'mappings-watched', ...counts },
    { type: 'mailbox-read' },
  ];
  for (const event of events) counters.notify(event);
  metrics.countHookRequest(202);
  return (await metrics.scrape()).text;
}

const served = await serveEverything();
const ended = { startedAt: now - 5_000, endedAt: now, exitCode: 0 };
const written = await renderRunMetrics(ended, { facts, names: ages, timezone });

/** The type of each of our metrics, and the labels of its samples. */
function readMetrics(text: string) {
  const types = [...text.matchAll(/^# TYPE (hotel_review_\w+) (\w+)$/gm)];
  return new Map(
    types.map(([, name = '', type = '']) => {
      const samples = [...text.matchAll(new RegExp(`^${name}(?:_sum)?(?:\\{([^}]*)\\})? `, 'gm'))];
      const labels = samples.flatMap(([, list = '']) =>
        [...list.matchAll(/(\w+)=/g)].map(([, label]) => label),
      );
      return [name, { type, samples: samples.length, labels: [...new Set(labels)].sort() }];
    }),
  );
}

const metrics = new Map([...readMetrics(served), ...readMetrics(written)]);

function temporaryFolder(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'metrics-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

describe('docs/every-night.md', () => {
  it('lists every metric that is served or written, with its type and labels, and no others', () => {
    expect([...metrics.keys()].sort()).toEqual([...documented.keys()].sort());
    for (const [name, { type, labels, samples }] of metrics) {
      expect(samples, `${name} has no sample here`).toBeGreaterThan(0);
      expect({ name, type, labels }).toEqual({
        name,
        type: documented.get(name)?.type,
        labels: documented.get(name)?.labels.toSorted(),
      });
    }
  });

  it('lists every alert, with its severity', () => {
    for (const [severity, start] of [
      ['critical', 'Critical:'],
      ['warning', 'Warnings:'],
    ]) {
      const sentence = new RegExp(`${start}([^.]*)\\.`).exec(page)?.[1] ?? '';
      const listed = [...sentence.matchAll(/`(HotelReview\w+)`/g)].map(([, name]) => name);
      const expected = rules.filter(({ labels }) => labels.severity === severity).map(({ alert }) => alert);
      expect(listed.sort(), severity).toEqual(expected.sort());
    }
  });

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
  it.each(used)('$where: metrics, labels and values that exist', ({ expr }) => {
    const selectors = [...expr.matchAll(/\b(hotel_review_\w+|up|node_\w+)\b(?:\{([^}]*)\})?/g)];
    expect(selectors.length).toBeGreaterThan(0);
    for (const [, selected = '', matchers = ''] of selectors) {
      if (foreign.includes(selected)) continue;
      const name = selected.replace(/_(?:count|sum|bucket)$/, '');
      const found = documented.get(name);
      expect(found, selected).toBeDefined();
      for (const [, label = '', values = ''] of matchers.matchAll(/(\w+)(?:=~|!=|!~|=)"([^"]*)"/g)) {
        expect(found?.labels).toContain(label);
        for (const value of values.split('|')) expect(found?.meaning).toContain(`\`${value}\``);
      }
    }
  });

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
  it('has alerts with a severity, a summary and what to do, each once', () => {
    for (const { alert, labels, annotations } of rules) {
      expect(severities, alert).toContain(labels.severity);
      expect(Object.keys(annotations), alert).toEqual(['summary', 'description']);
      expect(annotations.description?.length, alert).toBeGreaterThan(60);
    }
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  });

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

describe('ops/grafana', () => {
  const { panels, templating } = dashboard;

  it('asks which data source to read, and reads no other', () => {
    expect(templating.list).toMatchObject([{ name: 'datasource', type: 'datasource', query: 'prometheus' }]);
    const source = { type: 'prometheus', uid: expect.stringMatching(/^\$\{datasource\}$/) };
    for (const { type, datasource, targets = [] } of panels)
      for (const read of type === 'row' ? [] : [datasource, ...targets.map((target) => target.datasource)])
        expect(read).toEqual(source);
  });

  it('has panels with ids and titles of their own, what they mean, and something to show', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
    for (const { type, title, description, targets = [] } of panels.filter(({ type }) => type !== 'row')) {
      expect(['stat', 'timeseries', 'bargauge']).toContain(type);
      expect(description, title).toMatch(/\w.*\.$/);
      expect(targets.map(({ refId }) => refId)).toEqual(
        [...'ABCDEFGH'].slice(0, Math.max(1, targets.length)),
      );
    }
  });

  it('has panels side by side, none on top of another', () => {
    const taken = new Map<string, string>();
    for (const { title, gridPos } of panels) {
      expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
          expect(taken.get(`${x} ${y}`), title).toBeUndefined();
          taken.set(`${x} ${y}`, title);
        }
    }
  });
});
