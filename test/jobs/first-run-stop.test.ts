import { describe, expect, it, onTestFinished } from 'vitest';
import { isListening } from '../support/sandbox-command.js';
import { createFirstRunPlace, readPorts } from './started-first-run.js';

/** The signal, when to send it, and the output to wait for on either stream. */
const moments = [
  ['SIGINT', 'before the first day is made', 'Everything is in'],
  ['SIGTERM', 'during the first day', 'by body\n'],
  ['SIGINT', 'during the second day', 'write: done'],
  ['SIGTERM', 'while waiting for the result', 'waiting for the result'],
] as const;

describe('npm start', () => {
  it.each(moments)(
    'stops on %s %s, with the sandbox, and says how to start over',
    async (signal, _, words) => {
      const place = createFirstRunPlace();
      onTestFinished(() => place.remove());
      const program = place.start();
      onTestFinished(() => program.kill('SIGKILL'));
      await program.until(({ stdout, stderr }) => stdout.includes(words) || stderr.includes(words));
      program.kill(signal);
      const { exitCode, stdout, stderr } = await program.ended;
      // It ended by itself: stopped, or without the result.
      expect([1, 3]).toContain(exitCode);
      expect(stdout).toMatch(/\nStopped, and the sandbox with it[\s\S]*\n {2}npm start\n/);
      expect(stdout).not.toContain('What to do next');
      expect(stdout + stderr).not.toMatch(/^ {4}at |Error\b/m);

      const [, afterwards] = stderr.split(`\n${signal}: stopping`);
      expect(afterwards).toBeDefined();
      expect(afterwards).not.toContain('starting run');
      const [folder = ''] = place.folders();
      for (const port of readPorts(folder)) expect(await isListening(port)).toBe(false);
    },
  );
});
