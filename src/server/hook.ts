import type { IncomingHttpHeaders } from 'node:http';
import type { BusinessDay } from '../booking/business-day.js';
import { type CallerSettings, createCallerCheck } from './caller.js';
import { answerWithin, TooLateError } from './deadline.js';
import { readDay } from './hook-request.js';
import type { Statuses } from './statuses.js';

/** What the hook needs of the reviews: the run of a day, started once. */
export interface HookRuns {
  /** The run that an earlier request with this id was answered with. */
  findRun(requestId: string): Promise<string | undefined>;
  /**
   * Resolves once the ledger holds the run and, with it, the request's id. The same day gives the same run.
   *
   * @throws LedgerAwayError
   */
  start(day: BusinessDay, requestId: string | undefined): Promise<StartedRun>;
}

export interface StartedRun {
  readonly runId: string;
  /** YYYY-MM-DD */
  readonly day: string;
  /** False where the day had that run already. */
  readonly isNew: boolean;
}

export interface HookSettings extends CallerSettings {
  readonly runs: HookRuns;
}

export interface HookOptions extends HookSettings {
  readonly statuses: Statuses;
  readonly timezone: string;
  readonly clock: () => number;
  /** How long a caller waits for the ledger, in milliseconds. */
  readonly answerMs: number;
}

export interface HookAnswer {
  /** 202 when the day's run was asked for now, 200 when this request had been answered before. */
  readonly status: 202 | 200;
  readonly runId: string;
  /** YYYY-MM-DD */
  readonly day: string;
}

/** The path of the end-of-day hook. */
export const hookPath = '/hooks/end-of-day';

/**
 * The end-of-day hook: who may call it, about which day, and what it was answered before.
 *
 * @returns a function that throws HttpError for what it turns away, TooLateError, or what `runs` throws
 * @throws RangeError for a secret or token that can't be used
 */
export function createHook(
  options: HookOptions,
): (request: { readonly headers: IncomingHttpHeaders; readonly body: Uint8Array }) => Promise<HookAnswer> {
  const { runs, statuses, timezone: zone, clock, answerMs } = options;
  const checkCaller = createCallerCheck(options);
  /** By request id, what is being started: the same request, sent again meanwhile, waits for that. */
  const starting = new Map<string, Promise<HookAnswer>>();

  async function answerOnce(requestId: string, start: () => Promise<HookAnswer>): Promise<HookAnswer> {
    const current = starting.get(requestId);
    if (current !== undefined) return { ...(await current), status: 200 };
    const begun = answerFirst(requestId, start).finally(() => forget(requestId, begun));
    starting.set(requestId, begun);
    return begun;
  }

  function forget(requestId: string, begun: Promise<HookAnswer>): void {
    if (starting.get(requestId) === begun) starting.delete(requestId);
  }

  async function answerFirst(requestId: string, start: () => Promise<HookAnswer>): Promise<HookAnswer> {
    const runId = await runs.findRun(requestId);
    if (runId === undefined) return start();
    const { day } = await statuses.getRun(runId);
    return { status: 200, runId, day };
  }

  return async ({ headers, body }) => {
    const at = clock();
    const requestId = checkCaller({ headers, body, at });
    const day = readDay({ body, contentType: headers['content-type'], at, zone });
    let isLate = false;
    const start = async (): Promise<HookAnswer> => {
      // Who was told that the ledger is away shall not find a run begun all the same.
      if (isLate) throw new TooLateError(answerMs);
      const run = await runs.start(day, requestId);
      return { status: 202, runId: run.runId, day: run.day };
    };
    const answer = requestId === undefined ? start() : answerOnce(requestId, start);
    return answerWithin(answerMs, answer).catch((error: unknown) => {
      isLate = true;
      // What was given up waits for the ledger yet: the same request, sent again, is not to share its end.
      if (requestId !== undefined) starting.delete(requestId);
      throw error;
    });
  };
}
