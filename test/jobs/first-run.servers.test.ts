import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { isAvailable, needs, runAtTerminal, type TerminalSession } from '../support/pseudo-terminal.js';
import { createFirstRunPlace, type FirstRunPlace, startArguments, startFolder } from './started-first-run.js';

const escapeCode = String.fromCharCode(27);

describe.skipIf(!isAvailable)(`npm start at a terminal of 80 columns (needs ${needs})`, () => {
  let place: FirstRunPlace;
  let session: TerminalSession;
  beforeAll(async () => {
    place = createFirstRunPlace();
    const env = { ...place.env, TERM: 'xterm-256color', NO_COLOR: '1' };
    session = await runAtTerminal(startArguments, [], { cwd: startFolder, env });
  });
  afterAll(() => place.remove());

  it('shows progress bars, without colours under NO_COLOR', () => {
    expect(session.exitCode).toBe(0);
    expect(session.screen).toMatch(/deliver .+ \d+% {2}/);
    expect(session.screen).not.toMatch(new RegExp(`${escapeCode}\\[[\\d;:]*m`));
  });

  it('keeps lines within 80 columns, except for paths', () => {
    // Progress bars are redrawn, each time from the first column.
    const lines = linesOf(session.screen);
    expect(lines.length).toBeGreaterThan(30);
    const namesFolder = (line: string) => place.folders().some((path) => line.includes(path));
    const tooWide = lines.filter((line) => [...line].length > 80 && !namesFolder(line));
    expect(tooWide).toEqual([]);
  });

  it('leaves complete bars only', () => {
    // The last state of each line.
    const left = session.screen.split('\n').map((line) => linesOf(line).at(-1) ?? '');
    const bars = left.filter((line) => /[█░]/.test(line));
    expect(bars.length).toBeGreaterThan(2);
    for (const bar of bars) expect(bar).toMatch(/ 100% /);
  });
});

it.skipIf(!isAvailable)(
  `Ctrl-C at a terminal ends the progress bar and says what is left (needs ${needs})`,
  async () => {
    const place = createFirstRunPlace();
    onTestFinished(() => place.remove());
    const controlC = String.fromCharCode(3);
    const { screen, exitCode } = await runAtTerminal(
      startArguments,
      [{ after: 'collect ', type: controlC }],
      { cwd: startFolder, env: { ...place.env, TERM: 'xterm-256color' } },
    );
    expect(exitCode).toBe(1);
    const [, afterwards = ''] = screen.split('SIGINT: stopping');
    expect(afterwards).toContain('Stopped, and the sandbox with it');
  },
);

/** What was written, as lines: a progress bar is redrawn from the first column. */
function linesOf(screen: string): string[] {
  return screen
    .split(new RegExp(`[\r\n]+|${escapeCode}\\[\\d*G`))
    .map((line) => line.replaceAll(new RegExp(`${escapeCode}\\[[?\\d;]*[A-Za-z]`, 'g'), ''))
    .filter((line) => line !== '');
}
