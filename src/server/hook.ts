import {
  type BusinessDay,
  businessDayAt,
  createBusinessDay,
  isCalendarDay,
} from '../booking/business-day.js';
import type { ReadOnlyLedger } from '../ledger/ledger.js';
import type { CheckCaller, IncomingCall } from './caller.js';
import { answerWithin, TooLateError } from './deadline.js';
import { HttpError } from './http-error.js';

export interface HookRequest {
  readonly body: Uint8Array;
  /** The header `content-type`. */
  readonly contentType: string | undefined;
  /** Epoch milliseconds */
  readonly at: number;
  /** The account's time zone. */
  readonly zone: string;
}

export interface RequestedDay {
  readonly day: BusinessDay;
  /** How many records its source should hold. */
  readonly expected?: number;
}

/** With any parameters, such as a charset. */
const jsonType = /^\s*application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/**
 * Reads a request of the hook: `{"day":"YYYY-MM-DD","expected":412}`. Without a body or without `day` it is yesterday, as for
 * `run`; other members are ignored.
 *
 * @throws HttpError 400, 415, or 422 for a day that has not started; none quotes the body
 */
export function readRequest({ body, contentType, at, zone }: HookRequest): RequestedDay {
  const today = businessDayAt(new Date(at), zone);
  if (body.length === 0) return { day: today.previous() };
  if (!jsonType.test(contentType ?? '')) {
    throw new HttpError(415, 'the body must be JSON: send the header content-type: application/json');
  }
  const content = parseObject(body);
  const expected = readExpected(content);
  if (!Object.hasOwn(content, 'day')) return { day: today.previous(), ...expected };
  const { day } = content;
  if (typeof day !== 'string' || !isCalendarDay(day)) {
    throw new HttpError(400, 'day must be a calendar date written YYYY-MM-DD');
  }
  if (day > today.iso) {
    throw new HttpError(422, `${day} has not started: in ${zone} it is ${today.iso}`);
  }
  return { day: createBusinessDay(day, zone), ...expected };
}

/** More records than any day has. */
const mostExpected = 1_000_000_000;

function readExpected(content: Record<string, unknown>): Pick<RequestedDay, 'expected'> {
  if (!Object.hasOwn(content, 'expected')) return {};
  const { expected } = content;
  if (
    typeof expected !== 'number' ||
    !Number.isInteger(expected) ||
    expected < 0 ||
    expected > mostExpected
  ) {
    throw new HttpError(400, 'expected must be the number of records of the day, a whole number such as 412');
  }
  return { expected };
}

function parseObject(body: Uint8Array): Record<string, unknown> {
  let content: unknown;
  try {
    content = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    // The parser's own message quotes its input.
    throw new HttpError(400, 'the body is not JSON in UTF-8');
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new HttpError(400, 'the body must be a JSON object such as {"day":"2026-11-20"}');
  }
  return content as Record<string, unknown>;
}

/** What the hook needs of the reviews: the run of a day, started once. */
export interface HookRuns {
  /**
   * The first day that callers may ask for, YYYY-MM-DD; exact only if it matters for this one. @throws LedgerAwayError
   */
  findFirstDay(day: BusinessDay): Promise<string>;
  /** The run that an earlier request with this id was answered with. */
  findRun(requestId: string): Promise<string | undefined>;
  /**
   * Resolves once the ledger holds the run and, with it, the request's id. The same day gives the same run.
   *
   * @throws LedgerAwayError
   */
  start(day: BusinessDay, requestId: string | undefined, expected: number | undefined): Promise<StartedRun>;
}

interface StartedRun {
  readonly runId: string;
  /** YYYY-MM-DD */
  readonly day: string;
  /** False where the day had that run already. */
  readonly isNew: boolean;
}

export interface HookSettings {
  readonly checkCaller: CheckCaller;
  readonly runs: HookRuns;
}

export interface HookOptions extends HookSettings {
  readonly ledger: ReadOnlyLedger;
  readonly timezone: string;
  readonly clock: () => number;
  /** How long a caller waits for the ledger, in milliseconds. */
  readonly answerMs: number;
}

export interface HookAnswer {
  /** 202 for a new request, 200 for one that was answered before. */
  readonly status: 202 | 200;
  readonly runId: string;
  /** YYYY-MM-DD */
  readonly day: string;
}

/** The path of the end-of-day hook. */
export const hookPath = '/hooks/end-of-day';

/**
 * The end-of-day hook: checks the caller, reads the day, and starts its run. A repeated request gets its earlier answer.
 *
 * @returns a function that throws HttpError for a request that it refuses, TooLateError, or what `runs` throws
 */
export function createHook(options: HookOptions): (call: IncomingCall) => Promise<HookAnswer> {
  const { checkCaller, runs, ledger, timezone: zone, clock, answerMs } = options;
  /** Starts in progress by request id: the same request, sent again meanwhile, waits for the same start. */
  const starting = new Map<string, Promise<HookAnswer>>();

  async function answerOnce(requestId: string, start: () => Promise<HookAnswer>): Promise<HookAnswer> {
    const current = starting.get(requestId);
    if (current !== undefined) return { ...(await current), status: 200 };
    const started = answerFirst(requestId, start).finally(() => forget(requestId, started));
    starting.set(requestId, started);
    return started;
  }

  function forget(requestId: string, started: Promise<HookAnswer>): void {
    if (starting.get(requestId) === started) starting.delete(requestId);
  }

  async function answerFirst(requestId: string, start: () => Promise<HookAnswer>): Promise<HookAnswer> {
    const runId = await runs.findRun(requestId);
    if (runId === undefined) return start();
    const { day } = await ledger.runs.get(runId);
    return { status: 200, runId, day };
  }

  async function checkFirstDay(day: BusinessDay): Promise<void> {
    const firstDay = await runs.findFirstDay(day);
    if (day.iso >= firstDay) return;
    throw new HttpError(
      422,
      `${day.iso} is before ${firstDay}, the first day that the hook accepts: for an earlier one use the command run or replay`,
      {},
      'day-too-old',
    );
  }

  return async (call) => {
    const at = clock();
    const requestId = checkCaller(call);
    const { headers, body } = call;
    const { day, expected } = readRequest({ body, contentType: headers['content-type'], at, zone });
    let isLate = false;
    const start = async (): Promise<HookAnswer> => {
      await checkFirstDay(day);
      // A caller that got an error because of the ledger must not find a run started all the same.
      if (isLate) throw new TooLateError(answerMs);
      const run = await runs.start(day, requestId, expected);
      return { status: 202, runId: run.runId, day: run.day };
    };
    const answer = requestId === undefined ? start() : answerOnce(requestId, start);
    return answerWithin(answerMs, answer).catch((error: unknown) => {
      isLate = true;
      // The abandoned start still waits for the ledger: the same request, sent again, must not share its outcome.
      if (requestId !== undefined) starting.delete(requestId);
      throw error;
    });
  };
}
