import { createSeededRandom } from './random.js';

/** What goes wrong with a call of an operation. */
export type CallFault =
  /** An HTTP status 4xx or 5xx, in the configured error shape; nothing taken. */
  | { readonly kind: 'status'; readonly status: number; readonly retryAfterSeconds?: number }
  /** HTTP 200 with `Status: false` and that StatusCode; nothing taken. */
  | { readonly kind: 'refuse'; readonly statusCode: number }
  /** Answers properly, so much later. */
  | { readonly kind: 'latency'; readonly seconds: number }
  /** Takes nothing, never answers. */
  | { readonly kind: 'hang' }
  /** Takes nothing, closes the connection. */
  | { readonly kind: 'drop' }
  /** Takes the bookings, or what else it brings, then closes the connection without an answer. */
  | { readonly kind: 'lost-answer' }
  /** HTTP 200 with an HTML page, nothing taken. */
  | { readonly kind: 'page' };

/** What goes wrong with the result of a file, or with the files of an export, that was taken. */
export type ResultFault =
  /** So much later than the usual delay. */
  | { readonly kind: 'result-late'; readonly seconds: number }
  /** Written piece by piece over so many seconds under its final name. */
  | { readonly kind: 'result-growing'; readonly seconds: number }
  /** The first half of the records, ending with a line end; the rest never. */
  | { readonly kind: 'result-partial' }
  /** Never written, and no e-mail either. */
  | { readonly kind: 'result-missing' };

export interface FaultRule {
  readonly fault: CallFault | ResultFault;
  readonly when: FaultTime;
}

/** A share from 0 to 1 of the calls, or their numbers, counted from 1, both ends included. */
export type FaultTime =
  | { readonly kind: 'rate'; readonly share: number }
  | {
      readonly kind: 'numbers';
      readonly ranges: readonly { readonly first: number; readonly last: number }[];
    };

/** Which fault each call, and each result, meets. Asked once for each, in order. */
export interface FaultPlan {
  /** The fault of the next call of an operation that came with a right key. */
  nextCall(): CallFault | undefined;
  /** The fault of the next file's result, or of the next export. */
  nextResult(): ResultFault | undefined;
}

type Fault = CallFault | ResultFault;

export const noFaults: FaultPlan = { nextCall: () => undefined, nextResult: () => undefined };

interface FaultForm {
  readonly written: string;
  /** Undefined when the values are not what the kind takes. */
  read(values: readonly string[]): Fault | undefined;
}

const longestSeconds = 86_400;

const forms: { readonly [kind in Fault['kind']]: FaultForm } = {
  status: {
    written: 'status:CODE or status:CODE:RETRY_AFTER_SECONDS with a CODE from 400 to 599',
    read([code, retryAfter, ...more]) {
      const status = readInteger(code, 400, 599);
      if (status === undefined || more.length > 0) return undefined;
      if (retryAfter === undefined) return { kind: 'status', status };
      const retryAfterSeconds = readInteger(retryAfter, 0, longestSeconds);
      return retryAfterSeconds === undefined ? undefined : { kind: 'status', status, retryAfterSeconds };
    },
  },
  refuse: {
    written: 'refuse:STATUS_CODE with four digits',
    read([code, ...more]) {
      const statusCode = readInteger(code, 1000, 9999);
      return statusCode === undefined || more.length > 0 ? undefined : { kind: 'refuse', statusCode };
    },
  },
  latency: lasting('latency', (seconds) => ({ kind: 'latency', seconds })),
  hang: plain({ kind: 'hang' }),
  drop: plain({ kind: 'drop' }),
  'lost-answer': plain({ kind: 'lost-answer' }),
  page: plain({ kind: 'page' }),
  'result-late': lasting('result-late', (seconds) => ({ kind: 'result-late', seconds })),
  'result-growing': lasting('result-growing', (seconds) => ({ kind: 'result-growing', seconds })),
  'result-partial': plain({ kind: 'result-partial' }),
  'result-missing': plain({ kind: 'result-missing' }),
};

function plain(fault: Fault): FaultForm {
  return { written: fault.kind, read: (values) => (values.length === 0 ? fault : undefined) };
}

function lasting(kind: Fault['kind'], make: (seconds: number) => Fault): FaultForm {
  return {
    written: `${kind}:SECONDS, at most ${longestSeconds}`,
    read([text = '', ...more]) {
      const seconds = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
      return seconds <= longestSeconds && more.length === 0 ? make(seconds) : undefined;
    },
  };
}

/**
 * Reads a rule written as `KIND[:VALUE[:VALUE]]@WHEN`, with WHEN a share (`10%`) or numbers counted from 1
 * (`3,7-9,20-`): `status:429:2@3`, `latency:2.5@1-5`, `drop@25%`.
 *
 * @throws RangeError that says what was expected and what was got
 */
export function parseFault(text: string): FaultRule {
  const at = text.indexOf('@');
  if (at < 0) throw unexpected('KIND[:VALUE]@WHEN, for example status:503@10% or hang@4', text);
  const [kind = '', ...values] = text.slice(0, at).split(':');
  if (!isFaultKind(kind)) throw unexpected(`a fault of ${Object.keys(forms).join(', ')}`, text);
  const fault = forms[kind].read(values);
  if (!fault) throw unexpected(forms[kind].written, text);
  const when = readFaultTime(text.slice(at + 1));
  if (!when)
    throw unexpected('a share from 0% to 100%, or numbers from 1 such as 3,7-9,20- after the @', text);
  return { fault, when };
}

function isFaultKind(kind: string): kind is Fault['kind'] {
  return Object.hasOwn(forms, kind);
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

function readInteger(text = '', least: number, most: number): number | undefined {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  return number >= least && number <= most ? number : undefined;
}

/**
 * Makes the plan: each call, and each result, meets the first of its rules that matches.
 *
 * A rate is drawn once for each call and rule, from a stream of the rule's own that `random` seeds: so the same seed
 * gives the same calls the same faults, however results come between them.
 *
 * @param random uniform in [0, 1)
 */
export function createFaultPlan(rules: readonly FaultRule[], random: () => number): FaultPlan {
  const planned = rules.map((rule) => ({
    fault: rule.fault,
    matches: createMatcher(rule.when, createSeededRandom(Math.floor(random() * 2 ** 32))),
  }));
  const nextCall = createSequence(
    planned.flatMap(({ fault, matches }) => (isResultFault(fault) ? [] : { fault, matches })),
  );
  const nextResult = createSequence(
    planned.flatMap(({ fault, matches }) => (isResultFault(fault) ? { fault, matches } : [])),
  );
  return { nextCall, nextResult };
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
  planned: readonly { readonly fault: Kind; matches(number: number): boolean }[],
): () => Kind | undefined {
  let number = 0;
  return () => {
    number += 1;
    // Every rule draws for every call, or the calls that one rule meets would depend on the rules before it.
    return planned.filter(({ matches }) => matches(number)).at(0)?.fault;
  };
}

function isResultFault(fault: Fault): fault is ResultFault {
  switch (fault.kind) {
    case 'result-late':
    case 'result-growing':
    case 'result-partial':
    case 'result-missing':
      return true;
    case 'status':
    case 'refuse':
    case 'latency':
    case 'hang':
    case 'drop':
    case 'lost-answer':
    case 'page':
      return false;
  }
}
