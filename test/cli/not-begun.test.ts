import { describe, expect, it } from 'vitest';
import { createCommandWriter } from '../../src/cli/command-writer.js';
import { type EndedRange, renderNotBegun } from '../../src/cli/not-begun.js';
import { command } from './plain-command.js';

const range: EndedRange = {
  day: '2026-11-03',
  next: '2026-11-04',
  to: '2026-11-20',
  code: 1,
  isStopped: false,
  dryRun: false,
};

describe('the end of a range that stopped early', () => {
  it('says which days were not begun, and how to go on', () => {
    expect(renderNotBegun(range, command)).toBe(
      `Not begun: 2026-11-04 to 2026-11-20, for 2026-11-03 is not done.
To go on: hotel-review run --day 2026-11-03
and then: hotel-review replay 2026-11-04 --to 2026-11-20
`,
    );
  });

  it('names a single day that is left as one', () => {
    const text = renderNotBegun({ ...range, next: '2026-11-20' }, command);
    expect(text).toContain('Not begun: 2026-11-20, for');
    expect(text).toContain('replay 2026-11-20\n');
  });

  it.each<[string, Partial<EndedRange>]>([
    ['2026-11-03 still awaits its result', { code: 3 }],
    ['2026-11-03 was stopped', { isStopped: true }],
    ['2026-11-03 is not done', { code: undefined }],
  ])('says why: %s', (why, ended) => {
    expect(renderNotBegun({ ...range, ...ended }, command)).toContain(`, for ${why}.\n`);
  });

  it('goes on with the options of the range, as a shell takes them', () => {
    const options = { reason: "the hotel's export came late", delivery: 'file' } as const;
    const text = renderNotBegun(
      { ...range, ...options },
      createCommandWriter('npx hotel-review', 'other.yaml'),
    );
    expect(text).toContain('To go on: npx hotel-review run --day 2026-11-03 --config other.yaml\n');
    expect(text).toContain(
      "and then: npx hotel-review replay 2026-11-04 --to 2026-11-20 --reason 'the hotel'\\''s export came late' " +
        '--delivery file --config other.yaml\n',
    );
  });

  it('tries a dry run again from the day that it ended at', () => {
    const text = renderNotBegun({ ...range, dryRun: true }, command);
    expect(text).toContain(
      '\nWhen that is mended: hotel-review replay 2026-11-03 --to 2026-11-20 --dry-run\n',
    );
    expect(text).not.toContain('run --day');
  });
});
