import { untilAborted } from '../src/async/abort.js';
import { businessDayAt } from '../src/booking/business-day.js';
import type { ServeOptions } from '../src/cli/commands/service.js';
import { exitCode } from '../src/cli/exit-code.js';
import type { Config } from '../src/config/load.js';
import type { NotifyAll } from '../src/events/events.js';
import { type BackgroundReviews, createBackgroundReviews } from '../src/review/day/background-reviews.js';
import { createReplays, type Replays } from '../src/review/day/replays.js';
import { runsAtOnce } from '../src/review/day/run-slots.js';
import type { Ledger } from '../src/review/ledger.js';
import type { Run } from '../src/review/run.js';
import { findFirstAskableDay } from '../src/schedule/due-days.js';
import { findSourceDeadline, toDailyPattern } from '../src/schedule/late-source.js';
import { createReviewScheduler } from '../src/schedule/review-scheduler.js';
import { createTimedSchedule } from '../src/schedule/schedule.js';
import { createSlots, type Slots } from '../src/schedule/slots.js';
import { createCallerCheck } from '../src/server/caller.js';
import type { HookRuns } from '../src/server/hook.js';
import type { App } from './app.js';
import { recordStart } from './audit.js';
import { clock } from './clock.js';
import { composeDesk } from './desk.js';
import { composeOperations } from './desk-operations.js';
import { followUpRuns, followUpSync, watchCanaries } from './follow-up.js';
import { keepReport } from './keep-report.js';
import { tellFailedSyncs } from './notifications.js';
import { openObserved } from './observed.js';
import { applyConfiguredRetention } from './review-day.js';
import { createSyncWork, openSyncScheduler, openTodayScheduler } from './schedules.js';
import type { Terminal } from './terminal.js';
import { openMailPoller } from './verdict-mails.js';
import { logQueueProblems } from './workforces.js';

/** Runs the nightly schedule, answers the end-of-day hook and serves the desk, until it is asked to stop. */
export async function serve(app: App, options: ServeOptions): Promise<number> {
  const { config } = app;
  const terminal: Terminal = app;
  const { schedule: timing, timezone } = config;
  const { log, signal } = terminal;
  const slots = createSlots(timing.cron, timezone);
  const giveUps = createSlots(toDailyPattern(timing.giveUpAfter), timezone);
  const observed = await openObserved(app);
  const ledger = await app.ledger();
  const parts = await app.review();
  const { notify, warn } = app;
  const reviews = createBackgroundReviews({
    parts: { ...parts, findSourceDeadline: (run) => findSourceDeadline(run, giveUps) },
    configuredDelivery: config.delivery,
    onNewRun: ({ id, day, trigger }) =>
      recordStart(ledger, { action: 'run', subject: day, details: { run: id, trigger } }, terminal),
    async afterReview(run) {
      await followUpRuns(app);
      await keepReport(app, run);
      await applyConfiguredRetention(app);
    },
    signal,
  });
  const reviewScheduler = createReviewScheduler({
    ledger,
    schedule: createTimedSchedule(slots),
    slots,
    giveUps,
    review: (day, { trigger }, stop) => reviews.review(day, { mode: 'run', trigger }, stop),
    timing,
    clock,
    notify,
    signal,
  });
  const todayScheduler = openTodayScheduler(config, {
    nights: slots,
    stopsBeforeNight: !parts.workforce.letsOthersJoin,
    review: (day, request, stop) => reviews.review(day, { mode: 'today', ...request }, stop),
    notify,
    signal,
  });
  const notifyAndTell = tellFailedSyncs({ ledger, notify });
  const syncWork = createSyncWork(config, {
    ledger,
    notify: notifyAndTell,
    afterSync: () => followUpSync(app),
  });
  const syncScheduler = openSyncScheduler(config, { work: syncWork, ledger, notify: notifyAndTell, signal });
  const replays = createReplays({
    reviews,
    ledger,
    places: runsAtOnce,
    timezone,
    notify,
    signal,
  });
  const operations = composeOperations(config, {
    ledger,
    reviews,
    replays,
    syncWork,
    notify: notifyAndTell,
    warn,
    signal,
  });
  const mailPoller = await openMailPoller(config, ledger, { notify, signal });
  const checkCaller = createCallerCheck(config.hook.secret, clock);
  const hook = checkCaller && { checkCaller, runs: hookRunsOf(config, { ledger, reviews, slots }) };
  const closing = new AbortController();
  const untilClosed = AbortSignal.any([signal, closing.signal]);
  const desk = await composeDesk(
    config,
    { ledger, operations, nights: slots, health: observed.health, checkCaller },
    { ...terminal, signal: untilClosed },
  );
  const server = observed.openServer(options.port ?? config.server.port, { ...(hook && { hook }), desk });
  let caughtUp: Promise<unknown> | undefined;
  let canaries: Promise<void> | undefined;
  try {
    // Before the desk can start replays, which would be listed too.
    const left = await listLeftReplays(replays, notify);
    const { url } = await server.listen();
    replays.resume(left);
    log.info({ url, cron: timing.cron, timezone, next: slots.next(new Date(clock())) }, 'serving');
    terminal.say(`Serving on ${url}; the hook is ${url}/hooks/end-of-day. Ctrl-C stops.`);
    await logQueueProblems(config, log, signal);
    mailPoller?.start();
    canaries = watchCanaries({ ...app, signal: untilClosed });
    // What an earlier process left unfinished.
    caughtUp = followUpRuns(app);
    for (const scheduler of [reviewScheduler, todayScheduler, syncScheduler]) scheduler?.start();
    await untilAborted(signal);
    notify({ type: 'stopping', graceMs: config.workers.stopSeconds * 1000 });
  } finally {
    closing.abort();
    // Waits for the steps in progress, so that the ledger records their outcome.
    await Promise.all([
      server.close(),
      reviewScheduler.close(),
      todayScheduler?.close(),
      syncScheduler?.close(),
      mailPoller?.close(),
      canaries,
      parts.workforce.close(),
    ]);
    await Promise.all([reviews.idle(), operations.idle(), caughtUp]);
  }
  return exitCode.done;
}

async function listLeftReplays(replays: Replays, notify: NotifyAll): Promise<readonly Run[]> {
  try {
    return await replays.listLeft();
  } catch (error) {
    notify({ type: 'check-failed', error });
    return [];
  }
}

interface HookParts {
  readonly ledger: Ledger;
  readonly reviews: BackgroundReviews;
  readonly slots: Slots;
}

function hookRunsOf(
  { schedule: { catchUpDays }, timezone }: Config,
  { ledger, reviews, slots }: HookParts,
): HookRuns {
  return {
    findFirstDay: (day) => {
      const now = new Date(clock());
      return findFirstAskableDay(day, { slots, now, catchUpDays }, async () => {
        const { firstDay } = await ledger.summarise(businessDayAt(now, timezone));
        return firstDay;
      });
    },
    findRun: (requestId) => ledger.findHookRun(requestId),
    async start(day, requestId, expected) {
      // With the ledger unavailable, the run would start later, after the caller got an error.
      await ledger.ping();
      const { run, isNew } = await reviews.start(day, { mode: 'run', trigger: 'hook', expected });
      if (requestId !== undefined)
        await ledger.rememberHookRun({ id: requestId, runId: run.id, at: clock() });
      return { runId: run.id, day: day.iso, isNew };
    },
  };
}
