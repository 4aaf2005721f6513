import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { exitCode } from '../../src/cli/exit-code.js';
import type { FailureClass } from '../../src/review/run.js';
import { projectFile } from '../support/compose-file.js';
import { command } from '../support/sandbox-command.js';

const page = projectFile('docs/operations.md');
const section = (title: string): string => page.split(/^##+ /m).find((text) => text.startsWith(title)) ?? '';

/** Each call of the command that is marked as code: its words after `hotel-review`. */
const calls = [...page.matchAll(/```\w+\n([\s\S]*?)```|`([^`\n]+)`/g)]
  .flatMap(([, block, inline]) => (block ?? inline ?? '').split('\n'))
  .flatMap(
    (line) =>
      /(?:hotel-review|hotel-review\.js|--rm(?: --no-deps)?(?: -T)? (?:serve|sandbox)) ([a-z][^#;|>]*)/.exec(
        line,
      )?.[1] ?? [],
  )
  .map((words) => words.trim().split(/\s+/));

const helpOf = (words: readonly string[]): string =>
  execFileSync(process.execPath, [command, ...words, '--help'], { encoding: 'utf8' });

describe('docs/operations.md', () => {
  it('calls the command in many ways', () => {
    const names = new Set(calls.map(([name]) => name));
    expect([...names].sort()).toEqual([
      'doctor',
      'hook',
      'replay',
      'run',
      'sandbox',
      'show',
      'status',
      'user',
    ]);
  });

  it.each([...new Set(calls.map(([name = '']) => name))])('calls %s with options that it has', (name) => {
    const inner = name === 'sandbox' ? ['sandbox', 'bookings'] : [name];
    const help = helpOf(inner);
    const options = calls.filter(([called]) => called === name).flatMap((words) => words.filter(isOption));
    for (const option of options) expect(help).toContain(` ${option} `);
  });

  it('says what to do for every exit code', () => {
    const codes = [...section('By exit code').matchAll(/^\| (\d) \|/gm)].map(([, code]) => Number(code));
    expect(codes).toEqual(Object.values(exitCode).sort());
  });

  it('says what to do for every error class', () => {
    const classes: Record<FailureClass, true> = {
      retryable: true,
      fatal: true,
      refused: true,
      data: true,
      internal: true,
    };
    const reported = [...section('By error class').matchAll(/^\| (\w+) \|/gm)].map(([, name]) => name);
    expect(reported.filter((name) => name !== 'class')).toEqual(Object.keys(classes));
  });

  it('links to existing files and headings', () => {
    const links = [...page.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => link);
    const headings = [...page.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
      title.toLowerCase().replaceAll(' ', '-'),
    );
    expect(links.length).toBeGreaterThan(10);
    for (const link of links) {
      if (link.startsWith('#')) expect(headings).toContain(link.slice(1));
      else expect(existsSync(new URL(link, new URL('../../docs/', import.meta.url))), link).toBe(true);
    }
  });
});

function isOption(word: string): boolean {
  return word.startsWith('--');
}
