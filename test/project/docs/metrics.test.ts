import { describe, expect, it } from 'vitest';
import { severities } from '../../../src/rules/notice.js';
import { dashboard, metricsPage, page, rules, served, shown, written } from './monitoring.js';

const used = [...rules.map(({ alert, expr }) => ({ where: alert, expr })), ...shown];

/** The lists of the page, by type: the metrics with their labels, and what is said about them. */
const documented = new Map(
  ['Gauge', 'Counter', 'Histogram'].flatMap((type) => {
    const list = metricsPage.split(`**${type}s**`)[1]?.split('\n\n')[1] ?? '';
    return [...list.matchAll(/^- `(hotel_review_\w+)(?:\{([\w,]+)\})?`: (.*)$/gm)].map(
      ([, name = '', labels = '', meaning = '']) =>
        [name, { type: type.toLowerCase(), labels: labels.split(',').filter(Boolean), meaning }] as const,
    );
  }),
);
/** What others provide. */
const foreign = ['up', 'node_textfile_scrape_error'];

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

describe('docs/service.md', () => {
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
});

describe('docs/every-night.md', () => {
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
});
