import type { FastifyInstance } from 'fastify';
import { businessDayAt, isCalendarDay } from '../booking/business-day.js';
import { collapseRuns } from '../review/day/collapse-runs.js';
import { type RunReport, readReport, readWaits } from '../review/day/report.js';
import type { Run } from '../review/run.js';
import { describeError } from '../text/safe-error.js';
import { answerWithin } from './deadline.js';
import type { Health } from './health.js';
import { allowOnly, HttpError, toHttpError } from './http-error.js';
import type { Metrics } from './metrics.js';
import { pagePolicy, renderUnavailablePage } from './page.js';
import type { ServerLog, Statuses } from './ports.js';
import { renderStatusPage } from './status-page.js';

/** They answer whatever host a request names: probes use addresses of their own. */
export const probePaths: readonly string[] = ['/healthz', '/readyz'];

/** Adds the routes that machines call every few seconds: liveness, readiness, metrics. */
export function addProbeRoutes(
  app: FastifyInstance,
  { health, metrics }: { readonly health: Health; readonly metrics: Pick<Metrics, 'scrape'> },
): void {
  // Responds as long as the event loop turns: what a restart can't fix is not checked here.
  app.get('/healthz', async () => ({ alive: true }));
  allowOnly(app, 'GET', '/healthz');

  app.get('/readyz', async (_request, reply) => {
    const readiness = await health.look();
    return reply.code(readiness.ready ? 200 : 503).send(readiness);
  });
  allowOnly(app, 'GET', '/readyz');

  app.get('/metrics', async (_request, reply) => {
    const { contentType, text } = await metrics.scrape();
    return reply.header('content-type', contentType).send(text);
  });
  allowOnly(app, 'GET', '/metrics');
}

interface StatusParts {
  readonly statuses: Statuses;
  readonly timezone: string;
  readonly clock: () => number;
  readonly log: ServerLog;
  /** How long a caller waits for the ledger, in milliseconds. */
  readonly answerMs: number;
}

/** More than two weeks hold, unless days are replayed many times. */
const shownRuns = 1_500;
const runsOfDay = 1_000;

/** Adds the status page and its JSON. Neither contains guest data. */
export function addStatusRoutes(
  app: FastifyInstance,
  { statuses, timezone, clock, log, answerMs }: StatusParts,
): void {
  app.get<{ Params: { id: string } }>('/runs/:id', async ({ params }) => {
    const reading = findRun(statuses, params.id).then((run) => readReport(statuses, run, clock()));
    return answerWithin(answerMs, reading);
  });
  allowOnly(app, 'GET', '/runs/:id');

  app.get<{ Params: { day: string } }>('/days/:day', async ({ params: { day } }) => {
    if (!isCalendarDay(day)) throw new HttpError(400, 'a day is a calendar date written YYYY-MM-DD');
    return { runs: await answerWithin(answerMs, readReports(day)) };
  });
  allowOnly(app, 'GET', '/days/:day');

  async function readReports(day: string): Promise<RunReport[]> {
    const runs = await statuses.listRuns({ day, limit: runsOfDay });
    return Promise.all(runs.map((run) => readReport(statuses, run, clock())));
  }

  async function readRuns() {
    const runs = collapseRuns(await statuses.listRuns({ limit: shownRuns }));
    return { runs, waits: await readWaits(statuses, runs, clock()) };
  }

  async function renderStatus(): Promise<{ readonly status: number; readonly page: string }> {
    try {
      const [summary, { runs, waits }] = await answerWithin(
        answerMs,
        Promise.all([statuses.summarise(businessDayAt(new Date(clock()), timezone)), readRuns()]),
      );
      return { status: 200, page: renderStatusPage({ summary, runs, waits, now: clock(), timezone }) };
    } catch (error) {
      const { status } = toHttpError(error);
      if (status !== 503) throw error;
      log.error({ path: '/', status, error: describeError(error) }, 'request failed');
      return { status, page: renderUnavailablePage() };
    }
  }

  app.get('/', async (_request, reply) => {
    const { status, page } = await renderStatus();
    const headers = {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': pagePolicy,
      'referrer-policy': 'no-referrer',
    };
    return reply.code(status).headers(headers).send(page);
  });
  allowOnly(app, 'GET', '/');
}

/** The form of run ids; anything else needs no query to the ledger. */
const runName = /^[\w.-]{1,64}$/;

async function findRun(statuses: Statuses, id: string): Promise<Run> {
  const unknown = new HttpError(404, 'the ledger holds no run of that name');
  if (!runName.test(id)) throw unknown;
  try {
    return await statuses.getRun(id);
  } catch (error) {
    throw error instanceof RangeError ? unknown : error;
  }
}
