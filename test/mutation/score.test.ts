import { describe, expect, it } from 'vitest';
import { complain, recordScore, scoreFile } from './score.js';

const source = 'const least = 20;\nexport const isEnough = (n: number) =>\n  n >= least;\n';
const mutant = (status: string, replacement = 'n > least') => ({
  mutatorName: 'EqualityOperator',
  replacement,
  status,
  location: { start: { line: 3, column: 3 }, end: { line: 3, column: 13 } },
});

describe('the score of a file', () => {
  it('is the share of mutants that a test found; a time limit found nothing, and invalid ones do not count', () => {
    const statuses = ['Killed', 'Killed', 'Survived', 'Timeout', 'NoCoverage', 'RuntimeError', 'Ignored'];
    const { score, mutants, survivors } = scoreFile({ source, mutants: statuses.map((one) => mutant(one)) });
    expect({ score, mutants }).toEqual({ score: 40, mutants: 5 });
    expect(survivors).toEqual(
      ['Survived', 'Timeout', 'NoCoverage'].map((status) => ({
        line: 3,
        change: 'n >= least => n > least',
        status,
      })),
    );
  });

  it('may fall by a point; below that, what survives without an explanation is named', () => {
    const found = scoreFile({ source, mutants: [mutant('Survived'), mutant('Survived', 'n < least')] });
    const explained = { 'n >= least => n > least': 'nobody has exactly 20' };
    expect(complain('a.ts', { ...found, score: 79 }, { score: 80, mutants: 2 })).toEqual([]);
    expect(complain('a.ts', { ...found, score: 78.9 }, { score: 80, mutants: 2, explained })).toEqual([
      'a.ts: 78.9 instead of 80. No test found:',
      '  line 3: n >= least => n < least (Survived)',
    ]);
    expect(complain('new.ts', found, undefined)).toEqual([]);
  });
});

describe('the record', () => {
  it('takes the new score, and keeps explanations of what still survives', () => {
    const before = {
      'a.ts': { score: 50, mutants: 4, explained: { 'n >= least => n > least': 'rare', 'n => m': 'gone' } },
      'b.ts': { score: 90, mutants: 9 },
    };
    const found = scoreFile({ source, mutants: [mutant('Killed'), mutant('Survived')] });
    expect(recordScore(before, 'a.ts', found)).toEqual({
      'a.ts': { score: 50, mutants: 2, explained: { 'n >= least => n > least': 'rare' } },
      'b.ts': { score: 90, mutants: 9 },
    });
  });
});
