import { expect } from 'vitest';
import { findFaults } from './judge.js';
import type { Lived } from './live.js';
import type { Happening } from './outside.js';
import { runId } from './process.js';
import type { Scenario } from './scenarios.js';

/** The day without a death, in which everything must come about that a death is to interrupt. */
export function expectUndisturbed({ delivery, references }: Scenario, lived: Lived): void {
  const { outcome, repeated, log, points } = lived;
  expect(findFaults(lived, lived)).toEqual([]);
  const told = [`canary-missed raised: ${runId}`];
  expect(outcome.spool).toEqual([]);
  expect(outcome.canary).toMatchObject({ isSent: true, isReported: true });
  const kinds = new Set(points.map((point) => point.replace(/\..*/, '')));
  if (delivery === 'body') {
    const counts = { read: 18, accepted: 16, duplicates: 1, rejected: 1, delivered: 15, refused: 1 };
    expect(outcome.runs).toEqual([expect.objectContaining({ state: 'succeeded', counts: matching(counts) })]);
    expect(sizesOfCalls(log)).toEqual([1, 1, 1, 2, 2, 4, 4, 4, 4, 4, 4]);
    expect(repeated).toBe(4);
    expect(outcome.told).toEqual(told);
    expect([...kinds].sort()).toEqual(['channel', 'commit', 'queue', 'service']);
    return;
  }
  const counts = { accepted: 11, delivered: 11, posted: 3, affected: 1, unanswered: 0 };
  expect(outcome.runs).toEqual([expect.objectContaining({ state: 'succeeded', counts: matching(counts) })]);
  expect(sizesOfCalls(log)).toEqual([1, 3, 8]);
  expect(repeated).toBe(0);
  expect(outcome.told).toEqual([`affected-found raised: ${runId}: 1`, ...told]);
  expect(outcome.cases).toHaveLength(1);
  expect(Object.keys(outcome.archive)).toEqual([
    '20112026.csv',
    '20112026_Result.csv',
    expect.stringMatching(/^earlier-.*_Result\.csv$/),
    expect.stringMatching(/^earlier-.*-20112026\.csv$/),
    'manifest.json',
  ]);
  expect(Object.keys(outcome.server)).toHaveLength(2);
  // One that grows is read twice.
  expect(points.filter((point) => point === 'sftp.download')).toHaveLength(4);
  expect([...kinds].sort()).toEqual(['archive', 'channel', 'commit', 'queue', 'service', 'sftp', 'spool']);
  expect(references).toHaveLength(11);
}

function matching(counts: object): unknown {
  return expect.objectContaining(counts);
}

function sizesOfCalls(log: readonly Happening[]): number[] {
  return log.flatMap((one) => (one.kind === 'call' ? [one.references.length] : [])).sort();
}
