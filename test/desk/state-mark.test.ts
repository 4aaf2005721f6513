import { describe, expect, it } from 'vitest';
import { markOfRun, renderLegend, renderMark } from '../../src/desk/marks.js';
import { someRun } from '../review/some-run.js';

describe('the mark of a run', () => {
  const { counts } = someRun();
  const known = { ...counts, refused: 0, posted: 0, accepted: 3, affected: 0, unanswered: 0 };

  it.each([
    ['succeeded', known],
    ['sent', { ...known, affected: null, unanswered: null }],
    ['sent', { ...known, posted: 1 }],
    ['attention', { ...known, affected: 1 }],
    ['attention', { ...known, unanswered: 1 }],
    ['attention', { ...known, refused: 1 }],
  ] as const)('that succeeded is %s where its counts say so', (mark, of) => {
    expect(markOfRun(someRun({ state: 'succeeded', counts: of }), false)).toBe(mark);
  });

  it('with few bookings needs attention', () => {
    expect(markOfRun(someRun({ state: 'succeeded', counts: known }), true)).toBe('attention');
  });

  it('in any other state is that state', () => {
    expect(markOfRun(someRun({ state: 'awaiting-result' }), true)).toBe('awaiting-result');
  });
});

it('Each sign has its own lines and a text beside its colour', () => {
  const marks = ['good', 'sent', 'attention', 'unfinished', 'missing', 'not-due'] as const;
  const lines = marks.map((mark) => / d="([^"]+)"/.exec(renderMark(mark).markup)?.[1]);
  expect(new Set(lines).size).toBe(marks.length);
  expect(renderMark('attention').markup).toContain('</svg> needs attention</span>');
  expect(renderMark('good', '<b>').markup).toContain('&lt;b&gt;');
  for (const mark of marks) expect(renderLegend(marks).markup).toContain(renderMark(mark).markup);
});
