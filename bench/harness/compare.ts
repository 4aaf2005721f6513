import type { Comparison, Measurement, Scale } from '../comparison.js';
import { judge, summarise } from './judge.js';
import type { Results, Row } from './results.js';
import { takeRounds } from './rounds.js';
import { showFigure } from './table.js';

export interface CompareOptions {
  readonly scale: Scale;
  readonly commit: string;
  /** Milliseconds, growing steadily. */
  readonly now: () => number;
  /** Milliseconds for all of them together; each gets its share of what is left. Without it, as long as they take. */
  readonly budgetMs?: number | undefined;
  /** One line of progress. */
  readonly tell: (line: string) => void;
}

export interface Compared extends Pick<Results, 'rows' | 'notTried'> {
  readonly failures: readonly { readonly name: string; readonly error: unknown }[];
}

const usualRounds = 5;

/** Runs the comparisons one after the other. One that can't be tried, or that fails, keeps none of the others back. */
export async function compareAll(
  comparisons: readonly Comparison[],
  { scale, commit, now, budgetMs, tell }: CompareOptions,
): Promise<Compared> {
  const rows: Row[] = [];
  const notTried: { name: string; obstacle: string }[] = [];
  const failures: { name: string; error: unknown }[] = [];
  const allEndBy = budgetMs === undefined ? undefined : now() + budgetMs;
  for (const [place, comparison] of comparisons.entries()) {
    const { name } = comparison;
    const obstacle = comparison.findObstacle();
    if (obstacle !== undefined) {
      tell(`NOT TRIED: ${name} ${obstacle}`);
      notTried.push({ name, obstacle });
      continue;
    }
    const endsBy =
      allEndBy === undefined ? undefined : now() + (allEndBy - now()) / (comparisons.length - place);
    try {
      rows.push({ ...(await compare(comparison, { scale, now, endsBy, tell })), commit });
    } catch (error) {
      tell(`FAILED: ${name}: ${error instanceof Error ? error.message : error}`);
      failures.push({ name, error });
    }
  }
  return { rows, notTried, failures };
}

async function compare(
  comparison: Comparison,
  {
    scale,
    now,
    endsBy,
    tell,
  }: Pick<CompareOptions, 'scale' | 'now' | 'tell'> & { readonly endsBy: number | undefined },
): Promise<Omit<Row, 'commit'>> {
  const { name, work, against, unit, reach, rounds = usualRounds } = comparison;
  tell(`${name}: getting ready`);
  const stage = await comparison.prepare(scale);
  try {
    const taken = await takeRounds(stage, {
      rounds,
      ...(endsBy !== undefined && { endsBy }),
      now,
      onRound(number, ours, other) {
        const show = ({ value }: Measurement) => showFigure(value, unit);
        const theirs = other && stage.other ? `, ${stage.other.name} ${show(other)}` : '';
        tell(`${name} ${number}/${rounds}: ${stage.ours.name} ${show(ours)}${theirs}`);
      },
    });
    const ours = summarise(stage.ours.name, taken.ours);
    const other = stage.other && summarise(stage.other.name, taken.other);
    return {
      name,
      work,
      against,
      unit,
      reach,
      ours,
      ...(other && { other }),
      ...judge(comparison, ours, other),
      notes: stage.notes ?? [],
      takenAt: new Date().toISOString(),
    };
  } finally {
    await stage.close();
  }
}
