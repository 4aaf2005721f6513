import { expect, it } from 'vitest';
import { completeCommands, createCommandWriter } from '../../src/base/shell.js';

it('completes the commands of a hint with the program and its configuration', () => {
  const command = createCommandWriter('npx --no hotel-review', '/etc/o ne.yaml');
  expect(completeCommands('`run 2026-11-20` resumes it, `--out` does not', command)).toBe(
    "`npx --no hotel-review run 2026-11-20 --config '/etc/o ne.yaml'` resumes it, `--out` does not",
  );
});
