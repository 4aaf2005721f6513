import type { FastifyInstance } from 'fastify';
import * as z from 'zod';
import { answerWithin, TooLateError } from '../../base/abort.js';
import {
  type BusinessDay,
  businessDayAt,
  createBusinessDay,
  isCalendarDay,
} from '../../booking/business-day.js';
import { type Sender, senderOf } from '../access/caller.js';
import type { CheckCaller, IncomingCall } from './check-caller.js';
import { allowOnly, HttpError, toHttpError } from './http-error.js';
import type { ServerLimits, ServerOptions } from './server.js';

/** The path of the end-of-day hook. */
export const hookPath = '/hooks/end-of-day';

/** What the hook needs of the reviews: the run of a day, started once. */
export interface HookRuns {
  /**
   * The first day that callers may ask for, YYYY-MM-DD; exact only if it matters for this one. @throws LedgerAwayError
   */
  findFirstDay(day: BusinessDay): Promise<string>;
  /** The run that an earlier request with this id was answered with. */
  findRun(requestId: string): Promise<HookRun | undefined>;
  /**
   * Resolves once the ledger holds the run and, with it, the request's id. The same day gives the same run.
   *
   * @throws LedgerAwayError
   */
  start(day: BusinessDay, requestId: string | undefined, expected: number | undefined): Promise<HookRun>;
}

interface HookRun {
  readonly runId: string;
  /** YYYY-MM-DD */
  readonly day: string;
}

export interface HookSettings {
  readonly checkCaller: CheckCaller;
  readonly runs: HookRuns;
}

type HookOptions = HookSettings & ServerOptions & ServerLimits;

/** Bytes; the hook needs less than a hundred. */
const maxBodyBytes = 64 * 1024;

/** Adds the route of the end-of-day hook. */
export function addHookRoute(app: FastifyInstance, options: HookOptions): void {
  const { metrics, findCaller, log } = options;
  const answer = createHook(options);
  const record = (sender: Sender, status: number, run: object = {}) => {
    metrics.countHookRequest(status);
    const { address: caller } = findCaller(sender);
    log.info({ path: hookPath, status, caller, ...run }, 'end-of-day hook answered');
  };

  app.register((scope) => {
    // Raw bytes whatever their type, because signatures cover them.
    scope.removeAllContentTypeParsers();
    const asBytes = { parseAs: 'buffer', bodyLimit: maxBodyBytes } as const;
    scope.addContentTypeParser('*', asBytes, (_request, body, done) => done(null, body));
    scope.setErrorHandler((error, request) => {
      const { raw } = request;
      // A caller that disconnected gets no answer.
      if (raw.complete || !raw.destroyed) record(senderOf(request), toHttpError(error).status);
      throw error;
    });
    scope.post<{ Body?: Buffer }>(hookPath, async (request, reply) => {
      const sender = senderOf(request);
      const { status, runId, day } = await answer({ ...sender, body: request.body ?? Buffer.alloc(0) });
      record(sender, status, { run: runId, day });
      return reply.code(status).send({ runId, day, statusUrl: `/runs/${encodeURIComponent(runId)}` });
    });
  });
  allowOnly(app, 'POST', hookPath);
}

/** 202 for a new request, 200 for one that was answered before. */
type HookAnswer = HookRun & { readonly status: 202 | 200 };

/**
 * The end-of-day hook: checks the caller, reads the day, and starts its run. A repeated request gets its earlier answer.
 *
 * @returns a function that throws HttpError for a request that it refuses, TooLateError, or what `runs` throws
 */
function createHook({ checkCaller, runs, timezone, clock, answerMs }: HookOptions) {
  /** Starts in progress by request id: the same request, sent again meanwhile, waits for the same start. */
  const starting = new Map<string, Promise<HookAnswer>>();

  async function answerOnce(requestId: string, start: () => Promise<HookAnswer>): Promise<HookAnswer> {
    const current = starting.get(requestId);
    if (current !== undefined) return { ...(await current), status: 200 };
    const answerFirst = async (): Promise<HookAnswer> => {
      const run = await runs.findRun(requestId);
      return run === undefined ? start() : { status: 200, ...run };
    };
    const started = answerFirst().finally(() => {
      if (starting.get(requestId) === started) starting.delete(requestId);
    });
    starting.set(requestId, started);
    return started;
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

  return async (call: IncomingCall): Promise<HookAnswer> => {
    const today = businessDayAt(new Date(clock()), timezone);
    const requestId = checkCaller(call);
    const { day, expected } = readRequest(call, today);
    let isLate = false;
    const start = async (): Promise<HookAnswer> => {
      await checkFirstDay(day);
      // A caller that got an error because of the ledger must not find a run started all the same.
      if (isLate) throw new TooLateError(answerMs);
      return { status: 202, ...(await runs.start(day, requestId, expected)) };
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

/** With any parameters, such as a charset. */
const jsonType = /^\s*application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;
/** More records than any day has. */
const mostExpected = 1_000_000_000;

const signsNothing =
  'a signature of an empty body only asks for the state of a run, and starts nothing: sign a body such as {"day":"2026-11-20"}, or {} for yesterday';
const notCounted = 'expected must be the number of records of the day, a whole number such as 412';
const noDate = 'day must be a calendar date written YYYY-MM-DD';
const requested = z.object(
  {
    expected: z.int(notCounted).min(0, notCounted).max(mostExpected, notCounted).exactOptional(),
    day: z.string(noDate).refine(isCalendarDay, noDate).exactOptional(),
  },
  'the body must be a JSON object such as {"day":"2026-11-20"}',
);

/**
 * Reads a request of the hook: `{"day":"YYYY-MM-DD","expected":412}`. Without `day` it is yesterday, as for `run`, and so it is
 * without a body for a caller that sends the secret; other members are ignored.
 *
 * @throws HttpError 400, 415, or 422 for a day that has not started; none quotes the body
 */
function readRequest({ headers, body }: IncomingCall, today: BusinessDay) {
  // The state of a run is asked for with such a signature: whoever reads one on its way must not start anything with it.
  if (body.length === 0 && 'webhook-signature' in headers) throw new HttpError(400, signsNothing);
  if (body.length === 0) return { day: today.previous() };
  if (!jsonType.test(headers['content-type'] ?? ''))
    throw new HttpError(415, 'the body must be JSON: send the header content-type: application/json');
  const { data, error } = requested.safeParse(parseJson(body));
  if (!data) throw new HttpError(400, error.issues[0]?.message ?? 'the body is not understood');
  const { day, expected } = data;
  if (day !== undefined && day > today.iso)
    throw new HttpError(422, `${day} has not started: in ${today.zone} it is ${today.iso}`);
  return { day: day === undefined ? today.previous() : createBusinessDay(day, today.zone), expected };
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    // The parser's own message quotes its input.
    throw new HttpError(400, 'the body is not JSON in UTF-8');
  }
}
