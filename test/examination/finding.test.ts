import { expect, it } from 'vitest';
import { renderCount, renderFinding } from '../../src/checks/examination/finding.js';

it('uses columns, with the advice indented below', () => {
  const finding = { part: 'service', verdict: 'ok', message: 'it answered' } as const;
  expect(renderFinding(finding)).toBe('ok       service        it answered');
  expect(renderFinding({ ...finding, part: 'configuration', verdict: 'warning', advice: 'do this' })).toBe(
    'warning  configuration  it answered\n                          do this',
  );
});

it('fits into 80 columns', () => {
  const words = 'word '.repeat(60);
  const text = renderFinding({
    part: 'disk',
    verdict: 'wrong',
    message: `${words}\n${words}`,
    advice: words,
  });
  const lines = text.split('\n');
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  expect(lines.slice(1).every((line) => line.startsWith(' '.repeat(24)))).toBe(true);
  expect(text.match(/word/g)).toHaveLength(180);
});

it('counts the verdicts', () => {
  const finding = (verdict: 'ok' | 'warning' | 'wrong') => ({ part: 'disk', verdict, message: '' }) as const;
  const findings = (['ok', 'ok', 'warning', 'wrong', 'wrong', 'wrong'] as const).map(finding);
  expect(renderCount(findings)).toBe('2 ok, 1 warning, 3 wrong: disk');
});
