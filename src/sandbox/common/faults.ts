import { createSeededRandom } from './random.js';

/** What goes wrong with a call to an operation. */
export type CallFault =
  /** HTTP status 4xx or 5xx; nothing is accepted. */
  | { readonly kind: 'status'; readonly status: number; readonly retryAfterSeconds?: number }
  /** HTTP 200 with `Status: false` and this StatusCode; nothing is accepted. */
  | { readonly kind: 'refuse'; readonly statusCode: number }
  /** The proper answer after a delay. */
  | { readonly kind: 'latency'; readonly seconds: number };

/** What goes wrong with the result of an accepted file, or with the files of an accepted export. */
export type ResultFault =
  /** This much later than usual. */
  | { readonly kind: 'result-late'; readonly seconds: number }
  /** Only the first half of the records, ending with a line end. */
  | { readonly kind: 'result-partial' }
  /** Never written, and no e-mail either. */
  | { readonly kind: 'result-missing' };

const operations = ['by-body', 'by-file', 'mappings', 'brands', 'export'] as const;
/** The operations of spec 4.1 to 4.5. */
export type Operation = (typeof operations)[number];

export interface FaultRule {
  readonly fault: CallFault | ResultFault;
  /** Only the calls to this operation are affected, and counted. */
  readonly operation?: Operation;
  readonly when: FaultTime;
}

/** A share of the calls from 0 to 1, or ranges of their numbers from 1 on, both ends included. */
type FaultTime = { readonly share: number } | { readonly ranges: readonly (readonly [number, number])[] };

/** Decides the fault of each call and each result. Asked once for each, in order. */
export interface FaultPlan {
  /** For the next authenticated call to an operation. */
  nextCall(operation: Operation): CallFault | undefined;
  /** For the result of the next file, or for the next export. */
  nextResult(): ResultFault | undefined;
}

export const noFaults: FaultPlan = { nextCall: () => undefined, nextResult: () => undefined };

interface FaultForm<Fault> {
  /** As shown to somebody who got it wrong. */
  readonly usage: string;
  readonly values: RegExp;
  make(...values: readonly (string | undefined)[]): Fault;
}

const longest = 'at most 99999';
const seconds = /^:(\d{1,5}(?:\.\d+)?)$/;

const callFaults: { readonly [Kind in CallFault['kind']]: FaultForm<CallFault> } = {
  status: {
    usage: 'status:CODE or status:CODE:RETRY_AFTER_SECONDS with a CODE from 400 to 599',
    values: /^:([45]\d\d)(?::(\d{1,5}))?$/,
    make: (status, after) => ({
      ...{ kind: 'status', status: Number(status) },
      ...(after !== undefined && { retryAfterSeconds: Number(after) }),
    }),
  },
  refuse: {
    usage: 'refuse:STATUS_CODE with four digits',
    values: /^:([1-9]\d{3})$/,
    make: (code) => ({ kind: 'refuse', statusCode: Number(code) }),
  },
  latency: {
    usage: `latency:SECONDS, ${longest}`,
    values: seconds,
    make: (late) => ({ kind: 'latency', seconds: Number(late) }),
  },
};

const resultFaults: { readonly [Kind in ResultFault['kind']]: FaultForm<ResultFault> } = {
  'result-late': {
    usage: `result-late:SECONDS, ${longest}`,
    values: seconds,
    make: (late) => ({ kind: 'result-late', seconds: Number(late) }),
  },
  'result-partial': { usage: 'result-partial', values: /^$/, make: () => ({ kind: 'result-partial' }) },
  'result-missing': { usage: 'result-missing', values: /^$/, make: () => ({ kind: 'result-missing' }) },
};

const forms = new Map<string, FaultForm<CallFault | ResultFault>>(
  Object.entries({ ...callFaults, ...resultFaults }),
);

/**
 * Parses a rule written as `[OPERATION/]KIND[:VALUE[:VALUE]]@WHEN`, where WHEN is a share (`10%`) or numbers from 1 on
 * (`3,7-9,20-`): `status:429:2@3`, `latency:2.5@1-5`, `by-file/status:503@1`.
 *
 * @throws RangeError that says what was expected
 */
export function parseFault(text: string): FaultRule {
  const [, prefix, kind = '', values = '', time = ''] =
    /^(?:([^@]*)\/)?([^:@/]*)((?::[^@]*)?)@(.*)$/.exec(text) ?? [];
  if (!text.includes('@'))
    throw unexpected('KIND[:VALUE]@WHEN, for example status:503@10% or latency:5@4', text);
  const operation = operations.find((name) => name === prefix);
  if (prefix !== undefined && operation === undefined)
    throw unexpected(`an operation of ${operations.join(', ')} before the /`, text);
  const form = forms.get(kind);
  if (!form) throw unexpected(`a fault of ${[...forms.keys()].join(', ')}`, text);
  const found = form.values.exec(values);
  if (!found) throw unexpected(form.usage, text);
  const when = readFaultTime(time);
  if (!when)
    throw unexpected('a share from 0% to 100%, or numbers from 1 such as 3,7-9,20- after the @', text);
  const fault = form.make(...found.slice(1));
  if (operation === undefined) return { fault, when };
  if (isResultFault(fault)) throw unexpected('a fault of calls after the /', text);
  return { fault, operation, when };
}

function unexpected(expected: string, got: string): RangeError {
  return new RangeError(`expected ${expected}, got: ${got}`);
}

function readFaultTime(text: string): FaultTime | undefined {
  const percent = /^(\d+(?:\.\d+)?)%$/.exec(text)?.[1];
  if (percent !== undefined) return Number(percent) <= 100 ? { share: Number(percent) / 100 } : undefined;
  const ranges = text.split(',').flatMap((range) => readRange(range) ?? []);
  return ranges.length === text.split(',').length ? { ranges } : undefined;
}

function readRange(text: string): readonly [readonly [number, number]] | undefined {
  const [, first = '', dash, last] = /^([1-9]\d*)(-?)(\d*)$/.exec(text) ?? [];
  if (dash === undefined) return undefined;
  const openEnd = dash === '' ? Number(first) : Number.POSITIVE_INFINITY;
  const end = last ? Number(last) : openEnd;
  return end >= Number(first) ? [[Number(first), end]] : undefined;
}

/**
 * Each call, and each result, gets the fault of the first rule that matches.
 *
 * Rates draw from a random stream per rule, which `random` seeds: the same seed gives the same calls the same faults, no
 * matter how results and calls interleave.
 *
 * @param random uniform in [0, 1)
 */
export function createFaultPlan(rules: readonly FaultRule[], random: () => number): FaultPlan {
  const planned = rules.map(({ when, ...rule }) => {
    const draw = createSeededRandom(Math.floor(random() * 2 ** 32));
    const matches = (number: number) =>
      'share' in when
        ? draw() < when.share
        : when.ranges.some(([first, last]) => number >= first && number <= last);
    return { ...rule, matches };
  });
  const counts = new Map<string, number>();
  function count(of: string): number {
    const number = (counts.get(of) ?? 0) + 1;
    counts.set(of, number);
    return number;
  }
  return {
    nextCall(operation) {
      const [number, ownNumber] = [count('calls'), count(operation)];
      // Every rule draws for every call that it is about; otherwise its calls would depend on the rules before it.
      return planned
        .flatMap(({ fault, ...rule }) => (isResultFault(fault) ? [] : [{ fault, ...rule }]))
        .filter((rule) => rule.operation === undefined || rule.operation === operation)
        .filter((rule) => rule.matches(rule.operation === undefined ? number : ownNumber))
        .at(0)?.fault;
    },
    nextResult() {
      const number = count('results');
      return planned
        .flatMap(({ fault, matches }) => (isResultFault(fault) ? [{ fault, matches }] : []))
        .filter(({ matches }) => matches(number))
        .at(0)?.fault;
    },
  };
}

function isResultFault(fault: CallFault | ResultFault): fault is ResultFault {
  return Object.hasOwn(resultFaults, fault.kind);
}
