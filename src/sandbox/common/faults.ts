import { createSeededRandom } from './random.js';

/** What goes wrong with a call to an operation. */
export type CallFault =
  /** HTTP status 4xx or 5xx in the configured error shape; nothing is accepted. */
  | { readonly kind: 'status'; readonly status: number; readonly retryAfterSeconds?: number }
  /** HTTP 200 with `Status: false` and this StatusCode; nothing is accepted. */
  | { readonly kind: 'refuse'; readonly statusCode: number }
  /** The proper answer after a delay. */
  | { readonly kind: 'latency'; readonly seconds: number }
  /** No answer; nothing is accepted. */
  | { readonly kind: 'hang' }
  /** The connection is closed; nothing is accepted. */
  | { readonly kind: 'drop' }
  /** The call is performed, then the connection is closed without an answer. */
  | { readonly kind: 'lost-answer' }
  /** The call is performed, but answered with this HTTP status from 500 on. */
  | { readonly kind: 'done-status'; readonly status: number }
  /** HTTP 200 with an HTML page; nothing is accepted. */
  | { readonly kind: 'page' };

/** What goes wrong with the result of an accepted file, or with the files of an accepted export. */
export type ResultFault =
  /** This much later than usual. */
  | { readonly kind: 'result-late'; readonly seconds: number }
  /** Written piece by piece under its final name, over this many seconds. */
  | { readonly kind: 'result-growing'; readonly seconds: number }
  /** Only the first half of the records, ending with a line end. */
  | { readonly kind: 'result-partial' }
  /** Written whole, and after this many seconds once more, piece by piece over as many seconds. Results only. */
  | { readonly kind: 'result-twice'; readonly seconds: number }
  /** The verdict in other words: a column `MappingStatus` with `Correct` and `Incorrect`. Results only. */
  | { readonly kind: 'result-worded' }
  /** Never written, and no e-mail either. */
  | { readonly kind: 'result-missing' };

const operations = ['by-body', 'by-file', 'mappings', 'brands', 'export'] as const;
export type FaultedOperation = (typeof operations)[number];

export interface FaultRule {
  readonly fault: CallFault | ResultFault;
  /** Only the calls to this operation are affected, and counted. */
  readonly operation?: FaultedOperation;
  readonly when: FaultTime;
}

/** A share of the calls from 0 to 1, or ranges of their numbers from 1 on, both ends included. */
type FaultTime =
  | { readonly kind: 'rate'; readonly share: number }
  | {
      readonly kind: 'numbers';
      readonly ranges: readonly { readonly first: number; readonly last: number }[];
    };

/** Decides the fault of each call and each result. Asked once for each, in order. */
export interface FaultPlan {
  /** For the next authenticated call to an operation. */
  nextCall(operation: FaultedOperation): CallFault | undefined;
  /** For the result of the next file, or for the next export. */
  nextResult(): ResultFault | undefined;
}

type Fault = CallFault | ResultFault;

export const noFaults: FaultPlan = { nextCall: () => undefined, nextResult: () => undefined };

interface FaultSyntax {
  /** As shown to somebody who got it wrong. */
  readonly usage: string;
  /** Undefined when the values don't fit the kind. */
  read(values: readonly string[]): Fault | undefined;
}

const longestSeconds = 86_400;

const syntaxes: { readonly [kind in Fault['kind']]: FaultSyntax } = {
  status: {
    usage: 'status:CODE or status:CODE:RETRY_AFTER_SECONDS with a CODE from 400 to 599',
    read([code, retryAfter, ...more]) {
      const status = readInteger(code, 400, 599);
      if (status === undefined || more.length > 0) return undefined;
      if (retryAfter === undefined) return { kind: 'status', status };
      const retryAfterSeconds = readInteger(retryAfter, 0, longestSeconds);
      return retryAfterSeconds === undefined ? undefined : { kind: 'status', status, retryAfterSeconds };
    },
  },
  refuse: {
    usage: 'refuse:STATUS_CODE with four digits',
    read([code, ...more]) {
      const statusCode = readInteger(code, 1000, 9999);
      return statusCode === undefined || more.length > 0 ? undefined : { kind: 'refuse', statusCode };
    },
  },
  latency: withSeconds('latency', (seconds) => ({ kind: 'latency', seconds })),
  hang: withoutValue({ kind: 'hang' }),
  drop: withoutValue({ kind: 'drop' }),
  'lost-answer': withoutValue({ kind: 'lost-answer' }),
  'done-status': {
    usage: 'done-status:CODE with a CODE from 500 to 599',
    read([code, ...more]) {
      const status = readInteger(code, 500, 599);
      return status === undefined || more.length > 0 ? undefined : { kind: 'done-status', status };
    },
  },
  page: withoutValue({ kind: 'page' }),
  'result-late': withSeconds('result-late', (seconds) => ({ kind: 'result-late', seconds })),
  'result-growing': withSeconds('result-growing', (seconds) => ({ kind: 'result-growing', seconds })),
  'result-partial': withoutValue({ kind: 'result-partial' }),
  'result-twice': withSeconds('result-twice', (seconds) => ({ kind: 'result-twice', seconds })),
  'result-worded': withoutValue({ kind: 'result-worded' }),
  'result-missing': withoutValue({ kind: 'result-missing' }),
};

function withoutValue(fault: Fault): FaultSyntax {
  return { usage: fault.kind, read: (values) => (values.length === 0 ? fault : undefined) };
}

function withSeconds(kind: Fault['kind'], make: (seconds: number) => Fault): FaultSyntax {
  return {
    usage: `${kind}:SECONDS, at most ${longestSeconds}`,
    read([text = '', ...more]) {
      const seconds = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
      return seconds <= longestSeconds && more.length === 0 ? make(seconds) : undefined;
    },
  };
}

/**
 * Parses a rule written as `[OPERATION/]KIND[:VALUE[:VALUE]]@WHEN`, where WHEN is a share (`10%`) or numbers from 1 on
 * (`3,7-9,20-`): `status:429:2@3`, `latency:2.5@1-5`, `drop@25%`, `by-file/status:503@1`.
 *
 * @throws RangeError that says what was expected
 */
export function parseFault(text: string): FaultRule {
  const at = text.indexOf('@');
  if (at < 0) throw unexpected('KIND[:VALUE]@WHEN, for example status:503@10% or hang@4', text);
  const slash = text.lastIndexOf('/', at);
  const operation = slash < 0 ? undefined : operations.find((name) => name === text.slice(0, slash));
  if (slash >= 0 && operation === undefined)
    throw unexpected(`an operation of ${operations.join(', ')} before the /`, text);
  const [kind = '', ...values] = text.slice(slash + 1, at).split(':');
  if (!isFaultKind(kind)) throw unexpected(`a fault of ${Object.keys(syntaxes).join(', ')}`, text);
  const fault = syntaxes[kind].read(values);
  if (!fault) throw unexpected(syntaxes[kind].usage, text);
  const when = readFaultTime(text.slice(at + 1));
  if (!when)
    throw unexpected('a share from 0% to 100%, or numbers from 1 such as 3,7-9,20- after the @', text);
  if (operation === undefined) return { fault, when };
  if (isResultFault(fault)) throw unexpected('a fault of calls after the /', text);
  return { fault, operation, when };
}

function isFaultKind(kind: string): kind is Fault['kind'] {
  return Object.hasOwn(syntaxes, kind);
}

function unexpected(expected: string, got: string): RangeError {
  return new RangeError(`expected ${expected}, got: ${got}`);
}

function readFaultTime(text: string): FaultTime | undefined {
  const percent = /^(\d+(?:\.\d+)?)%$/.exec(text)?.[1];
  if (percent !== undefined) {
    const share = Number(percent) / 100;
    return share <= 1 ? { kind: 'rate', share } : undefined;
  }
  const ranges = text.split(',').flatMap((range) => readRange(range) ?? []);
  return ranges.length === text.split(',').length ? { kind: 'numbers', ranges } : undefined;
}

function readRange(text: string): { first: number; last: number } | undefined {
  const [, firstText, dash, lastText] = /^(\d+)(-?)(\d*)$/.exec(text) ?? [];
  const first = readInteger(firstText, 1, Number.MAX_SAFE_INTEGER);
  if (first === undefined) return undefined;
  if (dash === '') return { first, last: first };
  if (lastText === '') return { first, last: Number.POSITIVE_INFINITY };
  const last = readInteger(lastText, first, Number.MAX_SAFE_INTEGER);
  return last === undefined ? undefined : { first, last };
}

function readInteger(text = '', minimum: number, maximum: number): number | undefined {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  return number >= minimum && number <= maximum ? number : undefined;
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
  const planned = rules.map((rule) => ({
    fault: rule.fault,
    operation: rule.operation,
    matches: createMatcher(rule.when, createSeededRandom(Math.floor(random() * 2 ** 32))),
  }));
  const nextCall = createSequence(
    planned.flatMap(({ fault, ...rule }) => (isResultFault(fault) ? [] : { fault, ...rule })),
  );
  const nextResult = createSequence(
    planned.flatMap(({ fault, ...rule }) => (isResultFault(fault) ? { fault, ...rule } : [])),
  );
  return { nextCall, nextResult: () => nextResult() };
}

function createMatcher(when: FaultTime, draw: () => number): (number: number) => boolean {
  switch (when.kind) {
    case 'rate':
      return () => draw() < when.share;
    case 'numbers':
      return (number) => when.ranges.some(({ first, last }) => number >= first && number <= last);
  }
}

function createSequence<Kind extends Fault>(
  planned: readonly {
    readonly fault: Kind;
    readonly operation: FaultedOperation | undefined;
    matches(number: number): boolean;
  }[],
): (operation?: FaultedOperation) => Kind | undefined {
  let number = 0;
  const numbers = new Map<FaultedOperation | undefined, number>();
  return (operation) => {
    number += 1;
    const ownNumber = (numbers.get(operation) ?? 0) + 1;
    numbers.set(operation, ownNumber);
    // Every rule draws for every call that it is about; otherwise its calls would depend on the rules before it.
    return planned
      .filter((rule) => rule.operation === undefined || rule.operation === operation)
      .filter((rule) => rule.matches(rule.operation === undefined ? number : ownNumber))
      .at(0)?.fault;
  };
}

function isResultFault(fault: Fault): fault is ResultFault {
  switch (fault.kind) {
    case 'result-late':
    case 'result-growing':
    case 'result-partial':
    case 'result-twice':
    case 'result-worded':
    case 'result-missing':
      return true;
    case 'status':
    case 'refuse':
    case 'latency':
    case 'hang':
    case 'drop':
    case 'lost-answer':
    case 'done-status':
    case 'page':
      return false;
  }
}
