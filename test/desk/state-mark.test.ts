import { expect, it } from 'vitest';
import { markOfRun, renderLegend, renderMark } from '../../src/desk/marks.js';

it('the mark of a run that succeeded says whether it is good; any other is its state', () => {
  for (const [mark, judgement] of [
    ['succeeded', 'good'],
    ['sent', 'sent'],
    ['attention', 'attention'],
    ['unfinished', 'unfinished'],
  ] as const)
    expect(markOfRun({ state: 'succeeded', judgement })).toBe(mark);
  expect(markOfRun({ state: 'awaiting-result', judgement: 'attention' })).toBe('awaiting-result');
});

it('Each sign has its own lines and a text beside its colour', () => {
  const marks = ['good', 'sent', 'attention', 'unfinished', 'missing', 'not-due'] as const;
  const lines = marks.map((mark) => / d="([^"]+)"/.exec(renderMark(mark).markup)?.[1]);
  expect(new Set(lines).size).toBe(marks.length);
  expect(renderMark('attention').markup).toContain('</svg> needs attention</span>');
  expect(renderMark('good', '<b>').markup).toContain('&lt;b&gt;');
  for (const mark of marks) expect(renderLegend(marks).markup).toContain(renderMark(mark).markup);
});
