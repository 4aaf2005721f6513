import { describe, expect, it } from 'vitest';
import { createCommandWriter } from '../../src/cli/command-writer.js';
import { type EndedRange, renderNotBegun } from '../../src/cli/not-begun.js';
import { command } from './plain-command.js';

const range: EndedRange = { why: 'it was stopped', next: '2026-11-04', to: '2026-11-20', dryRun: false };

describe('the end of a range that stopped early', () => {
  it('says which days were not begun, and how to go on', () => {
    expect(renderNotBegun(range, command)).toBe(
      `Not begun: 2026-11-04 to 2026-11-20, for it was stopped.
To go on: hotel-review replay 2026-11-04 --to 2026-11-20
`,
    );
  });

  it('names a single day that is left as one', () => {
    const text = renderNotBegun({ ...range, next: '2026-11-20' }, command);
    expect(text).toBe(
      'Not begun: 2026-11-20, for it was stopped.\nTo go on: hotel-review replay 2026-11-20\n',
    );
  });

  it('goes on with the options of the range, as a shell takes them', () => {
    const options = { mode: 'all', reason: "the hotel's export came late", delivery: 'file' } as const;
    const text = renderNotBegun(
      { ...range, ...options, dryRun: true },
      createCommandWriter('npx hotel-review', 'other.yaml'),
    );
    expect(text).toContain(
      "To go on: npx hotel-review replay 2026-11-04 --to 2026-11-20 --all --reason 'the hotel'\\''s export came late' " +
        '--delivery file --dry-run --config other.yaml\n',
    );
  });
});
