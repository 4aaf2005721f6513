import { expect, it, onTestFinished } from 'vitest';
import { isAvailable, needs, runAtTerminal } from '../support/pseudo-terminal.js';
import { createFirstRunPlace, startArguments, startFolder } from './started-first-run.js';

const escapeCode = String.fromCharCode(27);

it.skipIf(!isAvailable)(
  `npm start at a terminal of 80 columns shows progress bars, and leaves complete ones only (needs ${needs})`,
  async () => {
    const place = createFirstRunPlace();
    onTestFinished(() => place.remove());
    const { exitCode, screen } = await runAtTerminal(startArguments, [], {
      cwd: startFolder,
      env: { ...place.env, TERM: 'xterm-256color', NO_COLOR: '1' },
    });
    expect(exitCode).toBe(0);
    expect(screen).toMatch(/deliver .+ \d+% {2}/);
    expect(screen).not.toMatch(new RegExp(`${escapeCode}\\[[\\d;:]*m`));

    const lines = linesOf(screen);
    expect(lines.length).toBeGreaterThan(30);
    const namesFolder = (line: string) => place.folders().some((path) => line.includes(path));
    expect(lines.filter((line) => [...line].length > 80 && !namesFolder(line))).toEqual([]);

    const left = screen.split('\n').map((line) => linesOf(line).at(-1) ?? '');
    const bars = left.filter((line) => /[█░]/.test(line));
    expect(bars.length).toBeGreaterThan(2);
    for (const bar of bars) expect(bar).toMatch(/ 100% /);
  },
);

/** What was written, as lines: a progress bar is redrawn from the first column. */
function linesOf(screen: string): string[] {
  return screen
    .split(new RegExp(`[\r\n]+|${escapeCode}\\[\\d*G`))
    .map((line) => line.replaceAll(new RegExp(`${escapeCode}\\[[?\\d;]*[A-Za-z]`, 'g'), ''))
    .filter((line) => line !== '');
}
