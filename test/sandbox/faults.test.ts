import { expect, it } from 'vitest';
import { createFaultPlan, type FaultPlan, parseFault } from '../../src/sandbox/common/faults.js';
import { createSeededRandom } from '../../src/sandbox/common/random.js';

const at = (...ranges: readonly (readonly [number, number])[]) => ({ ranges });

it.each([
  ['status:503@10%', { kind: 'status', status: 503 }, { share: 0.1 }],
  ['status:503:0@3', { kind: 'status', status: 503, retryAfterSeconds: 0 }, at([3, 3])],
  ['refuse:2009@3,7-9', { kind: 'refuse', statusCode: 2009 }, at([3, 3], [7, 9])],
  ['latency:2.5@5-', { kind: 'latency', seconds: 2.5 }, at([5, Number.POSITIVE_INFINITY])],
  ['result-late:30@1', { kind: 'result-late', seconds: 30 }, at([1, 1])],
  ['result-partial@0.5%', { kind: 'result-partial' }, { share: 0.005 }],
  ['result-missing@1', { kind: 'result-missing' }, at([1, 1])],
])('%s is read', (text, fault, when) => {
  expect(parseFault(text)).toEqual({ fault, when });
});

it.each([
  ['result-missing', 'expected KIND[:VALUE]@WHEN'],
  ['toString@1', 'expected a fault of status, refuse, latency, result-late, result-partial, result-missing'],
  ['status:200@1', 'expected status:CODE'],
  ['status:503:1:2@1', 'expected status:CODE'],
  ['refuse:20@1', 'expected refuse:STATUS_CODE'],
  ['latency:-1@1', 'expected latency:SECONDS'],
  ['latency:100000@1', 'expected latency:SECONDS'],
  ['result-missing:1@1', 'expected result-missing, got'],
  ...['', '0', '101%', '9-7', '1,,2', '-3', '1@2'].map((when) => [
    `result-partial@${when}`,
    'expected a share from 0% to 100%',
  ]),
  [
    'upload/refuse:2001@1',
    'expected an operation of by-body, by-file, mappings, brands, export before the /',
  ],
  ['by-file/result-late:3@1', 'expected a fault of calls after the /'],
])('%s is refused with what was expected', (text = '', message) => {
  expect(() => parseFault(text)).toThrow(RangeError);
  expect(() => parseFault(text)).toThrow(message);
  expect(() => parseFault(text)).toThrow(`got: ${text}`);
});

const plan = (rules: readonly string[], seed = 1) =>
  createFaultPlan(rules.map(parseFault), createSeededRandom(seed));
const callsOf = (faults: FaultPlan, count: number) =>
  Array.from({ length: count }, () => faults.nextCall('by-body')?.kind ?? '-');
const resultsOf = (faults: FaultPlan, count: number) =>
  Array.from({ length: count }, () => faults.nextResult()?.kind ?? '-');

it('a plan hits calls and results by their numbers, counted apart from 1, with the first rule that matches', () => {
  const faults = plan(['latency:1@1,3-4', 'result-missing@2', 'refuse:2001@3,6-', 'status:500@0%']);
  expect(callsOf(faults, 7)).toEqual(['latency', '-', 'latency', 'latency', '-', 'refuse', 'refuse']);
  expect(resultsOf(faults, 3)).toEqual(['-', 'result-missing', '-']);
});

it('a rule may be for one operation, whose calls are counted on their own', () => {
  const { nextCall } = plan(['by-file/status:503@1', 'export/refuse:2001@2', 'latency:1@4']);
  const calls = ['by-body', 'by-file', 'by-file', 'mappings', 'export', 'export', 'export'] as const;
  expect(calls.map((operation) => nextCall(operation)?.kind ?? '-')).toEqual([
    ...['-', 'status', '-', 'latency', '-', 'refuse', '-'],
  ]);
});

it('a rate hits about its share of the calls: the same with the same seed, whatever the results and other rules', () => {
  const rules = ['latency:1@10%', 'result-late:1@50%', 'refuse:2001@50%'];
  const met = callsOf(plan(rules, 7), 10_000);
  expect(met.filter((kind) => kind === 'latency').length / 10_000).toBeCloseTo(0.1, 1);
  expect(met.filter((kind) => kind === 'refuse').length / 10_000).toBeCloseTo(0.45, 1);
  const mixed = plan(rules, 7);
  const calls = met.map(() => [mixed.nextResult(), mixed.nextCall('by-body')?.kind ?? '-'][1]);
  expect(calls).toEqual(met);
  expect(callsOf(plan(rules, 8), 200)).not.toEqual(met.slice(0, 200));
  const behind = callsOf(plan(['latency:1@1-50', 'result-late:1@50%', 'refuse:2001@50%'], 7), 100);
  const alone = callsOf(plan(['latency:1@0%', 'result-late:1@50%', 'refuse:2001@50%'], 7), 100);
  expect(behind.slice(50)).toEqual(alone.slice(50));
});
