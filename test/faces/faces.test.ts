import { describe, expect, it } from 'vitest';
import { readRecorded, recordAgain } from './recording.js';

const recorded = await readRecorded();
const now = await recordAgain();

/** What people and programs see of a fixed month. If a difference is meant, record it: npm run faces. */
describe('The face of', () => {
  it.each([...recorded.keys()])('%s is as recorded', (name) => {
    expect(now.get(name)).toBe(recorded.get(name));
  });

  it('texts fits a terminal of 80 columns, but for commands to copy', () => {
    const texts = [...now].filter(([name]) => /^texts\/(?:closings|ranges|status)/.test(name));
    const lines = texts.flatMap(([, text]) => text.split('\n'));
    expect(lines.filter((line) => line.length > 80 && !/hotel-review |^\{/.test(line))).toEqual([]);
  });

  it('everything is recorded', () => {
    expect([...now.keys()]).toEqual([...recorded.keys()]);
  });
});
