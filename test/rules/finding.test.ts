import { expect, it } from 'vitest';
import {
  type Advice,
  adviseInLines,
  type Finding,
  type FindingCode,
  isDecision,
  renderNotes,
  tellFinding,
  toSentence,
} from '../../src/rules/finding.js';

const advice: Advice = [
  ['to list them', 'affected DAY'],
  ['if they are right', 'run DAY'],
];
const command = (line: string) => `$ ${line}`;
const lines = ['To list them: $ affected DAY', 'If they are right: $ run DAY'];
const finding: Finding = { code: 'volume', level: 'attention', words: 'few bookings', advice };

it('a finding is told in a line, with what to do', () => {
  const commands = 'to list them, `affected DAY`; if they are right, `run DAY`';
  expect(tellFinding(finding)).toBe(`few bookings: ${commands}`);
  expect(tellFinding({ ...finding, words: 'few: 9' })).toBe(`few: 9; ${commands}`);
  expect(tellFinding({ code: 'state', level: 'note', words: 'few: 9' })).toBe('few: 9');
});

it('a finding is shown with a line for each step, and marked unless it is only a note', () => {
  expect(adviseInLines(advice, command)).toEqual(lines);
  const long = `${'word '.repeat(20)}end`;
  expect(renderNotes([finding, { words: 'few' }, { level: 'warning', words: long }], command)).toEqual([
    '  warning: few bookings',
    ...lines.map((line) => `    ${line}`),
    '  few',
    `  warning: ${'word '.repeat(13)}word`,
    `  ${'word '.repeat(6)}end`,
  ]);
});

it('the day waits for somebody if its volume or its affected bookings are to be accepted', () => {
  const codes: readonly FindingCode[] = ['volume', 'implausible', 'refused', 'filter'];
  const waits = (what: Partial<Finding>) => codes.filter((code) => isDecision({ ...finding, ...what, code }));
  expect(waits({})).toEqual(['volume', 'implausible']);
  expect(waits({ advice: [] })).toEqual([]);
  expect(isDecision({ code: 'volume', level: 'note', words: 'few' })).toBe(false);
});

it.each([
  ['few bookings', 'Few bookings.'],
  ['is it? no!', 'Is it? no!'],
  ['why?', 'Why?'],
  ['done.', 'Done.'],
  ['e.g. this', 'E.g. this.'],
  ['', '.'],
])('%j becomes the sentence %j', (words, sentence) => {
  expect(toSentence(words)).toBe(sentence);
});
