import { describe, expect, test } from 'vitest';
import { createFaultPlan, type FaultPlan, parseFault } from '../../src/sandbox/common/faults.js';
import { createSeededRandom } from '../../src/sandbox/common/random.js';

const at = (...ranges: readonly (readonly [number, number])[]) => ({ ranges });

test('can be for one operation, whose calls are counted on their own', () => {
  const rules = ['by-file/status:503@1', 'export/refuse:2001@2', 'latency:1@4'].map(parseFault);
  const { nextCall } = createFaultPlan(rules, createSeededRandom(1));
  const calls = ['by-body', 'by-file', 'by-file', 'mappings', 'export', 'export', 'export'] as const;
  expect(calls.map((operation) => nextCall(operation)?.kind ?? '-')).toEqual([
    ...['-', 'status', '-', 'latency', '-', 'refuse', '-'],
  ]);
});

test.each(['upload/refuse:2001@1', 'by-file/result-late:3@1', 'hang@1', 'result-growing:5@1'])(
  'is refused as %s',
  (text: string) => {
    expect(() => parseFault(text)).toThrow(RangeError);
  },
);

describe('A fault rule', () => {
  test.each([
    ['status:503@10%', { kind: 'status', status: 503 }, { share: 0.1 }],
    ['status:429:2@3', { kind: 'status', status: 429, retryAfterSeconds: 2 }, at([3, 3])],
    ['status:503:0@3', { kind: 'status', status: 503, retryAfterSeconds: 0 }, at([3, 3])],
    ['refuse:2009@3,7-9', { kind: 'refuse', statusCode: 2009 }, at([3, 3], [7, 9])],
    ['latency:2.5@1-5', { kind: 'latency', seconds: 2.5 }, at([1, 5])],
    ['refuse:2001@0.5%', { kind: 'refuse', statusCode: 2001 }, { share: 0.005 }],
    ['refuse:2001@100%', { kind: 'refuse', statusCode: 2001 }, { share: 1 }],
    ['latency:0@5-', { kind: 'latency', seconds: 0 }, at([5, Number.POSITIVE_INFINITY])],
    ['result-late:30@1', { kind: 'result-late', seconds: 30 }, at([1, 1])],
    ['result-partial@50%', { kind: 'result-partial' }, { share: 0.5 }],
    ['result-missing@1', { kind: 'result-missing' }, at([1, 1])],
  ])('%s is read', (text, fault, when) => {
    expect(parseFault(text)).toEqual({ fault, when });
  });

  test.each([
    ['', 'expected KIND[:VALUE]@WHEN'],
    ['result-missing', 'expected KIND[:VALUE]@WHEN'],
    [
      'sleep@1',
      'expected a fault of status, refuse, latency, result-late, result-partial, result-missing, got:',
    ],
    [
      'toString@1',
      'expected a fault of status, refuse, latency, result-late, result-partial, result-missing, got:',
    ],
    [
      'Status:503@1',
      'expected a fault of status, refuse, latency, result-late, result-partial, result-missing, got:',
    ],
    ['status@1', 'expected status:CODE'],
    ['status:200@1', 'expected status:CODE'],
    ['status:600@1', 'expected status:CODE'],
    ['status:503:soon@1', 'expected status:CODE'],
    ['status:503:1:2@1', 'expected status:CODE'],
    ['refuse@1', 'expected refuse:STATUS_CODE'],
    ['refuse:20@1', 'expected refuse:STATUS_CODE'],
    ['latency@1', 'expected latency:SECONDS'],
    ['latency:-1@1', 'expected latency:SECONDS'],
    ['latency:1e3@1', 'expected latency:SECONDS'],
    ['latency:100000@1', 'expected latency:SECONDS'],
    ['result-late@1', 'expected result-late:SECONDS'],
    ['result-missing:1@1', 'expected result-missing, got'],
    ['result-partial@', 'expected a share from 0% to 100%'],
    ['result-partial@0', 'expected a share from 0% to 100%'],
    ['result-partial@101%', 'expected a share from 0% to 100%'],
    ['result-partial@-5%', 'expected a share from 0% to 100%'],
    ['result-partial@9-7', 'expected a share from 0% to 100%'],
    ['result-partial@1,,2', 'expected a share from 0% to 100%'],
    ['result-partial@1, 2', 'expected a share from 0% to 100%'],
    ['result-partial@-3', 'expected a share from 0% to 100%'],
    ['result-partial@1@2', 'expected a share from 0% to 100%'],
  ])('%o is refused with what was expected', (text, message) => {
    expect(() => parseFault(text)).toThrow(RangeError);
    expect(() => parseFault(text)).toThrow(message);
    expect(() => parseFault(text)).toThrow(`got: ${text}`);
  });
});

describe('A plan of faults', () => {
  const plan = (rules: readonly string[], seed = 1) =>
    createFaultPlan(rules.map(parseFault), createSeededRandom(seed));
  const callKinds = (faults: FaultPlan, count: number) =>
    Array.from({ length: count }, () => faults.nextCall('by-body')?.kind ?? '-');
  const resultKinds = (faults: FaultPlan, count: number) =>
    Array.from({ length: count }, () => faults.nextResult()?.kind ?? '-');

  test('has no faults without rules', () => {
    expect(callKinds(plan([]), 3)).toEqual(['-', '-', '-']);
    expect(resultKinds(plan([]), 3)).toEqual(['-', '-', '-']);
  });

  test('hits the calls with the given numbers, counted from 1', () => {
    expect(callKinds(plan(['latency:1@1,3-4', 'refuse:2001@6-']), 7)).toEqual([
      ...['latency', '-', 'latency', 'latency'],
      ...['-', 'refuse', 'refuse'],
    ]);
  });

  test('applies the first rule that matches', () => {
    expect(callKinds(plan(['latency:1@2', 'refuse:2001@1-3', 'status:500@100%']), 4)).toEqual([
      'refuse',
      'latency',
      'refuse',
      'status',
    ]);
  });

  test('counts calls and results separately', () => {
    const faults = plan(['latency:1@2', 'result-missing@2']);
    expect(callKinds(faults, 3)).toEqual(['-', 'latency', '-']);
    expect(resultKinds(faults, 3)).toEqual(['-', 'result-missing', '-']);
  });

  test('never hits at a rate of 0%, always at 100%', () => {
    expect(new Set(callKinds(plan(['latency:1@0%', 'refuse:2001@100%']), 500))).toEqual(new Set(['refuse']));
  });

  test('hits about the share of calls given by the rate', () => {
    const met = callKinds(plan(['latency:1@10%']), 10_000).filter((kind) => kind === 'latency').length;
    expect(met).toBeGreaterThan(850);
    expect(met).toBeLessThan(1_150);
  });

  test('hits the same calls with the same seed, and other calls with another', () => {
    const rules = ['latency:1@20%', 'refuse:2001@30%', 'result-partial@50%'];
    expect(callKinds(plan(rules, 7), 200)).toEqual(callKinds(plan(rules, 7), 200));
    expect(resultKinds(plan(rules, 7), 200)).toEqual(resultKinds(plan(rules, 7), 200));
    expect(callKinds(plan(rules, 8), 200)).not.toEqual(callKinds(plan(rules, 7), 200));
  });

  test('hits the same calls regardless of the results in between', () => {
    const rules = ['result-late:1@50%', 'latency:1@20%'];
    const mixed = plan(rules, 7);
    const calls = Array.from({ length: 100 }, (_, index) => {
      if (index % 3 === 0) mixed.nextResult();
      return mixed.nextCall('by-body')?.kind ?? '-';
    });
    expect(calls).toEqual(callKinds(plan(rules, 7), 100));
  });

  test('also draws for a rule on calls hit by an earlier rule', () => {
    const alone = callKinds(plan(['status:500@0%', 'refuse:2001@50%'], 7), 100);
    const behind = callKinds(plan(['status:500@1-50', 'refuse:2001@50%'], 7), 100);
    expect(behind.slice(50)).toEqual(alone.slice(50));
  });

  test('draws separately for two rules of the same rate', () => {
    const met = callKinds(plan(['latency:1@50%', 'refuse:2001@50%'], 3), 1_000);
    expect(new Set(met)).toEqual(new Set(['latency', 'refuse', '-']));
  });
});
