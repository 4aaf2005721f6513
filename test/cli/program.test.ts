import { describe, expect, it } from 'vitest';
import { type Handlers, helpShown, runCommandLine } from '../../src/cli/program.js';
import { UsageError } from '../../src/review/run-day.js';

const globals = { config: 'hotel-review.yaml', json: false, stackTrace: false };
const ownGlobals = { config: 'other.yaml', json: true, logLevel: 'debug', stackTrace: true };
const ownOptions = '--config other.yaml --json --log-level debug --stack-trace';

describe('the command line', () => {
  it.each<[string, unknown[]]>([
    ['run', ['run', { dryRun: false }]],
    ['run --day 2026-11-20', ['run', { day: '2026-11-20', dryRun: false }]],
    ['run --delivery file', ['run', { delivery: 'file', dryRun: false }]],
    ['run --dry-run --out bodies', ['run', { dryRun: true, out: 'bodies' }]],
    ['replay 2026-11-20', ['replay', '2026-11-20', { dryRun: false }]],
    [
      'replay 2026-11-01 --to 2026-11-20 --reason again --delivery body --dry-run --out bodies',
      [
        'replay',
        '2026-11-01',
        { to: '2026-11-20', reason: 'again', delivery: 'body', dryRun: true, out: 'bodies' },
      ],
    ],
    ['status', ['status', undefined]],
    ['status 2026-11-20', ['status', '2026-11-20']],
    ['show BR-1042', ['show', 'BR-1042', { answers: false }]],
    ['show BR-1042 --answers', ['show', 'BR-1042', { answers: true }]],
  ])(
    'understands %s, with the options of all commands before it, after it or nowhere',
    async (line, call) => {
      const plain = { ...given(call), ...globals };
      const own = { ...given(call), ...ownGlobals };
      expect(await start(line)).toMatchObject({ result: 7, calls: [[...call, plain]] });
      expect(await start(`${ownOptions} ${line}`)).toMatchObject({ result: 7, calls: [[...call, own]] });
      expect(await start(`${line} ${ownOptions}`)).toMatchObject({ result: 7, calls: [[...call, own]] });
    },
  );

  it('takes a reason of several words, without the blanks around it', async () => {
    const { calls } = await start(['replay', '2026-11-20', '--reason', '  a new export came ']);
    expect(calls).toMatchObject([['replay', '2026-11-20', { reason: 'a new export came' }, globals]]);
  });

  it.each<[string, string]>([
    ['runn', "unknown command 'runn'\n(Did you mean run?); see `hotel-review --help`"],
    ['run --dryrun', "unknown option '--dryrun'\n(Did you mean --dry-run?); see `hotel-review --help`"],
    ['--verbose', "unknown option '--verbose'; see `hotel-review --help`"],
    [
      'run 2026-11-20',
      "too many arguments for 'run'. Expected 0 arguments but got 1.; see `hotel-review --help`",
    ],
    ['replay', "missing required argument 'day'; see `hotel-review --help`"],
    ['show', "missing required argument 'booking-reference'; see `hotel-review --help`"],
    ['run --config', "option '--config <file>' argument missing; see `hotel-review --help`"],
    [
      'run --delivery pigeon',
      "option '--delivery <how>' argument 'pigeon' is invalid. Allowed choices are body, file.; see `hotel-review --help`",
    ],
    [
      'run --log-level loud',
      "option '--log-level <level>' argument 'loud' is invalid. Allowed choices are fatal, error, warn, info, debug, " +
        'trace.; see `hotel-review --help`',
    ],
    [
      'run --day 2026-02-30',
      "option '--day <day>' argument '2026-02-30' is invalid. expected a day as YYYY-MM-DD, got: 2026-02-30; see " +
        '`hotel-review --help`',
    ],
    ['replay 20.11.2026', 'expected a day as YYYY-MM-DD, got: 20.11.2026; see `hotel-review --help`'],
    ['status yesterday', 'expected a day as YYYY-MM-DD, got: yesterday; see `hotel-review --help`'],
    ['run --out bodies', '--out goes with --dry-run'],
    ['replay 2026-11-20 --out bodies', '--out goes with --dry-run'],
  ])('refuses %s and starts nothing', async (line, message) => {
    const { error, calls, written } = await start(line);
    expect(error).toBeInstanceOf(UsageError);
    expect(error).toMatchObject({ message });
    expect({ calls, written }).toEqual({ calls: [], written: '' });
  });

  it('refuses a reason without words', async () => {
    const { error } = await start(['replay', '2026-11-20', '--reason', ' ']);
    expect(error).toBeInstanceOf(UsageError);
  });

  it.each([
    ['--help', 'Usage: hotel-review [options] [command]'],
    ['help', 'Usage: hotel-review [options] [command]'],
    ['run --help', 'Usage: hotel-review run [options]'],
    ['help run', 'Usage: hotel-review run [options]'],
    ['--json run -h', 'Usage: hotel-review run [options]'],
    ['replay --help', 'Usage: hotel-review replay [options] <day>'],
    ['status --help', 'Usage: hotel-review status [options] [day]'],
    ['show --help', 'Usage: hotel-review show [options] <booking-reference>'],
  ])('answers "%s" with help, an example in it', async (line, usage) => {
    const { result, calls, written } = await start(line);
    expect({ result, calls }).toEqual({ result: helpShown, calls: [] });
    expect(written).toContain(usage);
    expect(written).toMatch(/Examples?:\n {2}hotel-review /);
  });

  it.each(['', '--json'])('refuses "%s", which names no command', async (line) => {
    const { error, calls } = await start(line);
    expect(error).toBeInstanceOf(UsageError);
    expect(calls).toEqual([]);
  });

  it('tells its version', async () => {
    expect(await start('--version')).toEqual({ result: helpShown, calls: [], written: '1.2.3\n' });
  });

  it('passes on what a command throws', async () => {
    const fault = new Error('a mistake of ours');
    const failing: Handlers = { ...recordingHandlers([]), status: () => Promise.reject(fault) };
    const silent = { writeOut: () => {}, writeErr: () => {} };
    await expect(runCommandLine(['status'], '1.2.3', failing, silent)).rejects.toBe(fault);
  });
});

/** What came of a command line: handlers answer 7 and remember how they were called. */
async function start(line: string | readonly string[]) {
  const calls: unknown[][] = [];
  let written = '';
  const write = (text: string) => {
    written += text;
  };
  const words = typeof line === 'string' ? line.split(' ').filter((word) => word !== '') : line;
  try {
    const result = await runCommandLine(words, '1.2.3', recordingHandlers(calls), {
      writeOut: write,
      writeErr: write,
    });
    return { result, calls, written };
  } catch (error) {
    return { error, calls, written };
  }
}

function recordingHandlers(calls: unknown[][]): Handlers {
  const remember =
    (name: string) =>
    async (...call: unknown[]) => {
      calls.push([name, ...call]);
      return 7;
    };
  return {
    run: remember('run'),
    replay: remember('replay'),
    status: remember('status'),
    show: remember('show'),
    affected: remember('affected'),
    verify: remember('verify'),
  };
}

/** The options that a call was given beside those of all commands. */
function given(call: readonly unknown[]): object {
  const last = call.at(-1);
  return typeof last === 'object' && last !== null ? last : {};
}
