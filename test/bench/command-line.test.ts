import { describe, expect, it } from 'vitest';
import { comparisons } from '../../bench/comparisons/index.js';
import { readCommandLine, UsageError } from '../../bench/harness/command-line.js';
import { startProgram } from '../support/program.js';
import { comparison } from './bench-results.js';

const two = [comparison('file-run'), comparison('small-day')];
const read = (...args: readonly string[]) => readCommandLine(args, two);

describe('npm run bench', () => {
  it('starts, and lists its comparisons', async () => {
    const { exitCode, stdout, stderr } = await startProgram(
      process.execPath,
      ['--import', 'tsx', 'bench/run.ts', '--list'],
      {
        cwd: process.cwd(),
        env: process.env,
      },
    ).ended;

    expect(stderr).toBe('');
    expect(exitCode).toBe(0);
    for (const { name } of comparisons) expect(stdout).toContain(name);
  });

  it('measures everything in full and updates the figures by default', () => {
    expect(read()).toMatchObject({ scale: 'full', chosen: two, writes: true, isStrict: false });
  });

  it('updates no figures with --quick or --only without --write', () => {
    expect(read('--quick')).toMatchObject({ scale: 'quick', chosen: two, writes: false });
    expect(read('--only', 'small-day')).toMatchObject({ chosen: [two[1]], writes: false, isPartial: true });
    expect(read('--only', 'small-day', '--write').writes).toBe(true);
  });

  it('accepts several names, in the order of the table', () => {
    expect(read('--only', 'small-day', '--only', 'file-run').chosen).toEqual(two);
  });

  it('takes the number of rounds, and then writes no figures without --write', () => {
    expect(read()).toMatchObject({ mostRounds: undefined, writes: true });
    expect(read('--rounds', '2')).toMatchObject({ mostRounds: 2, writes: false });
    expect(read('--rounds', '2', '--write').writes).toBe(true);
    for (const rounds of ['0', '-1', 'two', '1.5'])
      expect(() => read(`--rounds=${rounds}`)).toThrow('--rounds takes a number from 1 on');
  });

  it('lists the comparisons for an unknown name', () => {
    expect(() => read('--only', 'nix')).toThrow(
      new UsageError('there is no comparison "nix"; there are: file-run, small-day'),
    );
  });

  it.each([[['--fast']], [['--json']], [['file-run']]])('answers %j with the help', (args) => {
    expect(() => read(...args)).toThrow(UsageError);
    expect(() => read(...args)).toThrow('npm run bench -- [options]');
  });

  it('has unique names', () => {
    const names = comparisons.map(({ name }) => name);

    expect(names).toEqual([...new Set(names)]);
  });
});
