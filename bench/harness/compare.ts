import type { Comparison, Measurement, Scale } from '../comparison.js';
import { judge, summarise } from './judge.js';
import type { Results, Row } from './results.js';
import { takeRounds } from './rounds.js';
import { showFigure } from './table.js';

export interface CompareOptions {
  readonly scale: Scale;
  readonly commit: string;
  /** Monotonic, in milliseconds. */
  readonly now: () => number;
  /** Milliseconds for all comparisons together; each gets a share of the rest. Default: no limit. */
  readonly budgetMs?: number | undefined;
  /** However many rounds a comparison has. */
  readonly mostRounds?: number | undefined;
  /** Writes one line of progress. */
  readonly log: (line: string) => void;
}

export interface Compared extends Pick<Results, 'rows' | 'notTried'> {
  readonly failures: readonly { readonly name: string; readonly error: unknown }[];
}

const usualRounds = 5;

/** Runs the comparisons one after the other. One that cannot run, or that fails, does not stop the others. */
export async function compareAll(
  comparisons: readonly Comparison[],
  { scale, commit, now, budgetMs, mostRounds, log }: CompareOptions,
): Promise<Compared> {
  const rows: Row[] = [];
  const notTried: { name: string; obstacle: string }[] = [];
  const failures: { name: string; error: unknown }[] = [];
  const allEndBy = budgetMs === undefined ? undefined : now() + budgetMs;
  for (const [index, comparison] of comparisons.entries()) {
    const { name } = comparison;
    const obstacle = comparison.findObstacle();
    if (obstacle !== undefined) {
      log(`NOT TRIED: ${name} ${obstacle}`);
      notTried.push({ name, obstacle });
      continue;
    }
    const endsBy =
      allEndBy === undefined ? undefined : now() + (allEndBy - now()) / (comparisons.length - index);
    try {
      rows.push({ ...(await compare(comparison, { scale, now, endsBy, mostRounds, log })), commit });
    } catch (error) {
      log(`FAILED: ${name}: ${error instanceof Error ? error.message : error}`);
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
    mostRounds,
    log,
  }: Pick<CompareOptions, 'scale' | 'now' | 'mostRounds' | 'log'> & { readonly endsBy: number | undefined },
): Promise<Omit<Row, 'commit'>> {
  const { name, work, against, unit, reach } = comparison;
  const rounds = Math.min(comparison.rounds ?? usualRounds, mostRounds ?? Number.POSITIVE_INFINITY);
  log(`${name}: preparing`);
  const stage = await comparison.prepare(scale);
  try {
    const samples = await takeRounds(stage, {
      rounds,
      ...(endsBy !== undefined && { endsBy }),
      now,
      onRound(number, ours, other) {
        const show = ({ value }: Measurement) => showFigure(value, unit);
        const theirs = other && stage.other ? `, ${stage.other.name} ${show(other)}` : '';
        log(`${name} ${number}/${rounds}: ${stage.ours.name} ${show(ours)}${theirs}`);
      },
    });
    const ours = summarise(stage.ours.name, samples.ours);
    const other = stage.other && summarise(stage.other.name, samples.other);
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
