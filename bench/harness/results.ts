import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as z from 'zod';
import { showFigure } from './table.js';

const measurement = z.object({
  value: z.number(),
  cpuSeconds: z.number().exactOptional(),
  peakMb: z.number().exactOptional(),
});

const side = z.object({
  name: z.string(),
  samples: z.array(measurement).readonly(),
  median: z.number(),
  min: z.number(),
  max: z.number(),
  cpuSeconds: z.number().exactOptional(),
  peakMb: z.number().exactOptional(),
});

const limit = z.object({ atMost: z.number(), unit: z.enum(['s', 'ms', 'MB']) });

const row = z.object({
  name: z.string(),
  work: z.string(),
  against: z.string(),
  unit: z.enum(['s', 'ms', 'MB', 'MB/s', 'bookings/s', 'bytes a booking']),
  reach: z.object({
    ratio: z
      .union([z.strictObject({ atMost: z.number() }), z.strictObject({ atLeast: z.number() })])
      .exactOptional(),
    ours: limit.exactOptional(),
  }),
  ours: side,
  other: side.exactOptional(),
  ratio: z.number().exactOptional(),
  isReached: z.boolean().exactOptional(),
  notes: z.array(z.string()).readonly(),
  /** ISO 8601, in UTC. */
  takenAt: z.string(),
  commit: z.string(),
});

const results = z.object({
  scale: z.enum(['full', 'quick']),
  machine: z.object({
    processor: z.string(),
    cores: z.number(),
    memoryGb: z.number(),
    system: z.string(),
    /** Of the temporary folder, which holds inputs, ledgers and served folders. */
    fileSystem: z.string(),
  }),
  /** Versions by name. */
  versions: z.record(z.string(), z.string()),
  rows: z.array(row).readonly(),
  notTried: z.array(z.object({ name: z.string(), obstacle: z.string() })).readonly(),
});

/** The samples of one comparison and their result. */
export type Row = z.infer<typeof row>;

/** The content of `--json` and `bench/results/latest.json`, for comparing commits. */
export type Results = z.infer<typeof results>;

/** @throws Error that names the file when it cannot be read or has other content */
export async function readResults(path: string): Promise<Results> {
  const text = await readFile(path, 'utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`${path} holds no JSON; expected what --json wrote`, { cause: error });
  }
  const read = results.safeParse(value);
  if (!read.success)
    throw new Error(`${path} holds no results of this benchmark: ${z.prettifyError(read.error)}`);
  return read.data;
}

export async function writeResults(path: string, content: Results): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${JSON.stringify(content, undefined, 2)}\n`);
}

/** The earlier rows, with those of repeated comparisons replaced. */
export function replaceRows(before: Results, again: Results, order: readonly string[]): Results {
  const isAgain = ({ name }: { readonly name: string }) =>
    again.rows.some((row) => row.name === name) || again.notTried.some((row) => row.name === name);
  const inOrder = <Named extends { readonly name: string }>(rows: readonly Named[]) =>
    rows.toSorted((one, other) => order.indexOf(one.name) - order.indexOf(other.name));
  const isKept = (row: { readonly name: string }) => order.includes(row.name) && !isAgain(row);
  return {
    ...again,
    // Some programs may not be installed today.
    versions: { ...before.versions, ...again.versions },
    rows: inOrder([...before.rows.filter(isKept), ...again.rows]),
    notTried: inOrder([...before.notTried.filter(isKept), ...again.notTried]),
  };
}

/** How the medians changed since earlier results, one line per comparison. */
export function listMovements(before: Results, now: Results): readonly string[] {
  return now.rows.map((row) => {
    const old = before.rows.find(({ name }) => name === row.name);
    if (!old || old.unit !== row.unit) return `${row.name}: nothing to compare with`;
    const sides = [move('ours', old.ours.median, row.ours.median)];
    if (old.other && row.other) sides.push(move('the other', old.other.median, row.other.median));
    const ratios =
      old.ratio !== undefined && row.ratio !== undefined
        ? `, ratio ${old.ratio.toFixed(3)} → ${row.ratio.toFixed(3)}`
        : '';
    return `${row.name} (${old.commit} → ${row.commit}): ${sides.join(', ')}${ratios}`;

    function move(side: string, from: number, to: number): string {
      const percent = (to / from - 1) * 100;
      const sign = percent < 0 ? '−' : '+';
      return `${side} ${showFigure(from, row.unit)} → ${showFigure(to, row.unit)} (${sign}${Math.abs(percent).toFixed(1)}%)`;
    }
  });
}
