import { expect } from 'vitest';

/** What is typed, and some of what completes its last word; a word that begins with `!` does not. */
export const typed: readonly (readonly [words: readonly string[], completed: readonly string[]])[] = [
  [['ru'], ['run', '!replay']],
  [
    ['run', '--del'],
    ['--delivery', '!--day'],
  ],
  [
    ['run', '--delivery', ''],
    ['body', 'file', '!--delivery'],
  ],
  [
    ['affected', '--check-in-before', ''],
    ['today', 'yesterday'],
  ],
  [
    ['mappings', ''],
    ['sync', 'stats', '!run'],
  ],
  [
    ['--config', 'run', 'guest', 'e'],
    ['export', 'erase', '!evidence'],
  ],
  [['guest', 'export', '--j'], ['--json']],
];

export function expectCompleted(
  words: readonly string[],
  completed: readonly string[],
  found: readonly string[],
): void {
  const missing = completed.filter((word) => !word.startsWith('!') && !found.includes(word));
  const wrong = completed.filter((word) => word.startsWith('!') && found.includes(word.slice(1)));
  expect({ words, missing, wrong }).toEqual({ words, missing: [], wrong: [] });
}
