import { parseArgs } from 'node:util';
import type { Comparison, Scale } from '../comparison.js';

export interface BenchOptions {
  readonly scale: Scale;
  readonly chosen: readonly Comparison[];
  /** Whether only some were asked for. */
  readonly isPartial: boolean;
  readonly isList: boolean;
  readonly isHelp: boolean;
  readonly isStrict: boolean;
  /** Whether docs/performance.md and bench/results/latest.json are written. */
  readonly writes: boolean;
  readonly jsonPath: string | undefined;
  /** Results to say the movement since. */
  readonly againstPath: string | undefined;
}

export const help = `npm run bench -- [options]

  --quick          in small, in two minutes: good for a look, not for a claim; without --only, what is to be
                   reached alone
  --only NAME      this comparison alone; may be given several times
  --list           say what there is to compare, and end
  --json PATH      write all samples there too
  --against PATH   say how the medians moved since those results were written
  --write          write docs/performance.md and bench/results/latest.json with --quick or --only too;
                   with --only the other rows stay as they are
  --strict         exit code 1 when something is not reached
  --help           this text`;

/** The command line can't be understood; the message says what to write instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** @throws UsageError */
export function readCommandLine(args: readonly string[], comparisons: readonly Comparison[]): BenchOptions {
  const flags = parse(args);
  const names = flags.only ?? [];
  const unknown = names.find((name) => !comparisons.some((comparison) => comparison.name === name));
  if (unknown !== undefined)
    throw new UsageError(
      `there is no comparison ${JSON.stringify(unknown)}; there are: ${comparisons.map(({ name }) => name).join(', ')}`,
    );
  const isQuick = flags.quick ?? false;
  const isPartial = names.length > 0;
  return {
    scale: isQuick ? 'quick' : 'full',
    chosen: comparisons.filter(({ name, reach }) =>
      isPartial ? names.includes(name) : !isQuick || Object.keys(reach).length > 0,
    ),
    isPartial,
    isList: flags.list ?? false,
    isHelp: flags.help ?? false,
    isStrict: flags.strict ?? false,
    writes: flags.write ?? (!isQuick && !isPartial),
    jsonPath: flags.json,
    againstPath: flags.against,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        quick: { type: 'boolean' },
        only: { type: 'string', multiple: true },
        list: { type: 'boolean' },
        json: { type: 'string' },
        against: { type: 'string' },
        write: { type: 'boolean' },
        strict: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : error}\n\n${help}`, { cause: error });
  }
}
