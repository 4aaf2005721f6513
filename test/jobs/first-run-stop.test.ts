import { describe, expect, it, onTestFinished } from 'vitest';
import { openFirstRunRoom, readPorts, startArguments, startFolder } from '../support/first-run.js';
import { isListening } from '../support/listening.js';
import { isAvailable, needs, runAtTerminal } from '../support/pseudo-terminal.js';

/** Of the command line: Ctrl-C stops within five seconds. */
const longestStopMs = 5_000;

/** When it is stopped, and what it has written then, to either stream. */
const moments = [
  ['before the first day is made up', 'Everything is in'],
  ['in the midst of the first day', 'by body\n'],
  ['in the midst of the second day', 'write: done'],
  ['while it waits for the result', 'waiting for the result'],
] as const;

describe.each(['SIGINT', 'SIGTERM'] as const)('%s stops npm start', (signal) => {
  it.each(moments)('%s, and the sandbox with it; it says so and how to begin anew', async (_, words) => {
    const room = openFirstRunRoom();
    onTestFinished(() => room.remove());
    const program = room.start();
    onTestFinished(() => program.kill('SIGKILL'));
    await program.until(({ stdout, stderr }) => stdout.includes(words) || stderr.includes(words));
    const askedAt = performance.now();
    program.kill(signal);
    const { exitCode, stdout, stderr } = await program.ended;
    expect(performance.now() - askedAt).toBeLessThan(longestStopMs);
    // By its own will: stopped, or without the result.
    expect([1, 3]).toContain(exitCode);
    expect(stdout).toMatch(/\nStopped, and the sandbox with it[\s\S]*\n {2}npm start\n/);
    expect(stdout).not.toContain('What to do next');
    expect(stdout + stderr).not.toMatch(/^ {4}at |Error\b/m);

    const [, afterwards] = stderr.split(`\n${signal}: stopping`);
    expect(afterwards).toBeDefined();
    expect(afterwards).not.toContain('starting run');
    const [folder = ''] = room.folders();
    for (const port of readPorts(folder)) expect(await isListening(port)).toBe(false);
  });
});

it.skipIf(!isAvailable)(
  `Ctrl-C at a terminal takes the bar off the screen and gives the cursor back (needs ${needs})`,
  async () => {
    const room = openFirstRunRoom();
    onTestFinished(() => room.remove());
    const controlC = String.fromCharCode(3);
    const { screen, exitCode } = await runAtTerminal(
      startArguments,
      [{ after: 'collect ', type: controlC }],
      { cwd: startFolder, env: { ...room.env, TERM: 'xterm-256color' } },
    );
    expect(exitCode).toBe(1);
    const [, afterwards = ''] = screen.split('SIGINT: stopping');
    expect(afterwards).toContain('Stopped, and the sandbox with it');
    expect(screen.lastIndexOf('[?25h')).toBeGreaterThan(screen.lastIndexOf('[?25l'));
  },
);
