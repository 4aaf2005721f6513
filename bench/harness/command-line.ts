import { parseArgs } from 'node:util';
import type { Comparison, Scale } from '../comparison.js';

export interface BenchOptions {
  readonly scale: Scale;
  readonly chosen: readonly Comparison[];
  /** Whether only some comparisons were selected. */
  readonly isPartial: boolean;
  readonly isList: boolean;
  readonly isHelp: boolean;
  /** Maximum number of rounds of each comparison. */
  readonly mostRounds: number | undefined;
  readonly isStrict: boolean;
  /** Whether bench/results (figures.md, latest.json) is written. */
  readonly writes: boolean;
  readonly jsonPath: string | undefined;
  /** Earlier results to compare with. */
  readonly againstPath: string | undefined;
}

export const help = `npm run bench -- [options]

  --quick          small inputs, two minutes: an indication, not evidence
  --only NAME      run only this comparison; may be repeated
  --rounds NUMBER  at most so many rounds of each comparison: an indication, not evidence
  --list           list the comparisons and exit
  --json PATH      also write all samples to this file
  --against PATH   show how the medians changed since those results
  --write          update bench/results (figures.md, latest.json) even with --quick, --only or --rounds; with --only the other
                   rows stay unchanged
  --strict         exit with code 1 if a target is missed
  --help           show this help`;

/** The command line is invalid; the message says how to fix it. */
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
    chosen: isPartial ? comparisons.filter(({ name }) => names.includes(name)) : comparisons,
    isPartial,
    isList: flags.list ?? false,
    isHelp: flags.help ?? false,
    mostRounds: flags.rounds === undefined ? undefined : readRounds(flags.rounds),
    isStrict: flags.strict ?? false,
    writes: flags.write ?? (!isQuick && !isPartial && flags.rounds === undefined),
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
        rounds: { type: 'string' },
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

function readRounds(written: string): number {
  if (/^[1-9]\d{0,3}$/.test(written)) return Number(written);
  throw new UsageError(`--rounds takes a number from 1 on, got: ${JSON.stringify(written)}`);
}
