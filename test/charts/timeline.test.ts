import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderTimeline, type Segment, type TimelineRow } from '../../src/charts/timeline.js';
import { broken } from './broken-chart.js';

const start = Date.parse('2026-11-21T01:30:00Z');
const minute = 60_000;

function render(rows: readonly TimelineRow[], now?: number, timezone = 'Europe/Madrid'): string {
  return renderTimeline({ title: 'Steps', timezone, rows, now }).markup;
}

function segment(kind: Segment['kind'], from: number, to: number): Segment {
  return { kind, from: start + from * minute, to: start + to * minute };
}

describe('the time line of a run', () => {
  it('shows each step in words, and its segments on one axis in the zone of the account', () => {
    const chart = render([
      { label: 'collect', words: 'done in 2 min', segments: [segment('done', 0, 2)] },
      { label: 'upload', words: 'failed', segments: [segment('failed', 2, 10)] },
    ]);
    expect(chart.match(/<li>/g)).toHaveLength(2);
    expect(chart).toContain('21 Nov 2026, 02:30, 10 min, Europe/Madrid');
    expect(chart).toContain('done in 2 min, from 02:30, 2 min<');
    expect(chart).toContain('failed, from 02:32, 8 min<');
    expect(chart).toContain('<path class="segment done" d="M0 19h60"/>');
    expect(chart).toContain('<path class="segment failed" d="M60 19h240"/>');
    expect(chart).toContain('<text class="sign" x="100%"');
    expect(chart).toMatch(/>02:30<.*>02:32<.*>02:38</s);
    expect(chart).not.toContain('>now<');
  });

  it('marks now in a run in progress, and leaves out the times that it would cover', () => {
    const chart = render(
      [{ label: 'batches', words: '', segments: [segment('open', 0, 9)] }],
      start + 10 * minute,
    );
    expect(chart).toContain('10 min so far');
    expect(chart.match(/class="now" x1="100%"/g)).toHaveLength(1);
    expect(chart).toContain('>now<');
    expect(chart).toContain('>02:30<');
    expect(chart).not.toContain('>02:40<');
  });

  it('names the kinds that it shows, and no others', () => {
    const chart = render([
      { label: 'batches', words: '', segments: [segment('wait', 0, 9)], attempts: [start] },
    ]);
    const legend = /<p class="chart-legend">.*<\/p>/s.exec(chart)?.[0];
    expect(legend).toContain('waiting');
    expect(legend).toContain('an attempt begins');
    expect(legend).not.toMatch(/failed|done|at work/);
  });

  it('shows a step that took no time', () => {
    const chart = render([
      { label: 'trigger', words: '', segments: [segment('done', 0, 0), segment('wait', 0, 600)] },
    ]);
    expect(chart).toContain('class="segment done" d="M0 19h1"');
  });

  it('labels seconds in a short run, and days in a long one', () => {
    expect(render([{ label: 'a', words: '', segments: [segment('done', 0, 0.1)] }])).toContain('>02:30:05<');
    const long = render([{ label: 'a', words: '', segments: [segment('done', 0, 48 * 60)] }]);
    expect(long).toContain('>22 Nov<');
  });

  it('marks full hours in a zone that is half an hour off', () => {
    const chart = render(
      [{ label: 'a', words: '', segments: [segment('done', 0, 300)] }],
      undefined,
      'Asia/Kolkata',
    );
    expect(chart).toContain('>08:00<');
  });

  it('stays small for a step of a hundred thousand attempts', () => {
    const attempts = Array.from({ length: 100_000 }, (_, index) => start + index * 100);
    const segments = attempts.map((from): Segment => ({ kind: 'work', from, to: from + 90 }));
    expect(render([{ label: 'batches', words: '', segments, attempts }]).length).toBeLessThan(6_000);
  });

  it('says so when no step has begun', () => {
    expect(render([])).toContain('No step has begun.');
    expect(render([{ label: 'collect', words: '', segments: [] }], start)).toContain('No step has begun.');
  });

  it('escapes untrusted text, and breaks at no instant', () => {
    const instant = fc.integer({ min: 0, max: 4_000_000_000_000 });
    const kind = fc.constantFrom('work', 'wait', 'failed', 'done', 'open');
    const row = fc.record({
      label: fc.constant('<script>"'),
      words: fc.constant("<img src='x'>"),
      segments: fc.array(fc.record({ kind, from: instant, to: instant })),
      attempts: fc.array(instant),
    });
    fc.assert(
      fc.property(fc.array(row, { maxLength: 5 }), fc.option(instant, { nil: undefined }), (rows, now) => {
        const chart = render(rows, now);
        expect(chart).not.toMatch(broken);
        expect(chart).not.toMatch(/<script|<img|="-|%" width="-/);
      }),
    );
  });
});
