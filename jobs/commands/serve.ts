import { untilAborted } from '../../src/base/abort.js';
import { isLoopbackAddress } from '../../src/base/addresses.js';
import { describeError, UsageError } from '../../src/base/safe-error.js';
import { createBusinessDay } from '../../src/booking/business-day.js';
import { createScoreMemory } from '../../src/cases/scores/scorecard.js';
import type { Config } from '../../src/config/load.js';
import { type Access, createAccess } from '../../src/desk/access/access.js';
import { createCallerFinder } from '../../src/desk/access/caller.js';
import { createDesk } from '../../src/desk/desk.js';
import type { DeskParts, Operations } from '../../src/desk/page.js';
import { scoreDays } from '../../src/desk/providers-page.js';
import { type CheckCaller, createCallerCheck } from '../../src/desk/server/check-caller.js';
import type { HookRuns } from '../../src/desk/server/hook.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { explainUnsearched } from '../../src/ledger/rejects.js';
import { SyncBusyError } from '../../src/mappings/sync-mappings.js';
import { acceptIn, dayOfRunId } from '../../src/review/day/open-run.js';
import { runsAtOnce } from '../../src/review/day/run-permits.js';
import { type CronTimes, createCronTimes } from '../../src/schedule/cron-times.js';
import { findFirstAskableDay, findSourceDeadline, toDailyPattern } from '../../src/schedule/due-days.js';
import {
  createLateResultScheduler,
  createReviewScheduler,
  createSyncScheduler,
  createTodayScheduler,
} from '../../src/schedule/scheduler.js';
import { createWantedDays, type WantedDays } from '../../src/schedule/wanted-days.js';
import { kindOf } from '../../src/sources/registry.js';
import { type App, recordLook } from '../app.js';
import { clock } from '../clock.js';
import { command, option, wholeNumber } from '../command.js';
import { exitCode } from '../exit-code.js';
import {
  followUpNewHotels,
  followUpRuns,
  followUpSync,
  keepFollowingUp,
  saveReport,
  watchCanaries,
} from '../follow-up.js';
import type { LedgerGate } from '../ledger-gate.js';
import { applyConfiguredRetention } from '../main-job.js';
import { tellFailures } from '../notifications.js';
import { findUsersFile, openMappingService } from '../parts.js';
import { logQueueProblems } from '../review.js';
import { openObserved, readDeskAssets, waitForLedger } from '../server.js';
import { openRetryPolicy } from '../sources.js';
import { findMailbox, openMailPoller } from '../verdict-mails.js';
import { cancelIn } from './cancel.js';
import { packEvidence } from './evidence.js';
import { syncCopy, watchCopy } from './mappings.js';
import { tryChannels } from './notify.js';

/** What the hook and the desk work with. */
interface Serving {
  readonly ledger: Ledger;
  readonly wantedDays: WantedDays;
  readonly cronTimes: CronTimes;
}

/** The pages of `serve`, with its operations. @param checkCaller checks callers of the hook, who may look too */
async function openDesk(
  app: App,
  { ledger, cronTimes: nights }: Serving,
  operations: Operations,
  health: DeskParts['health'],
  checkCaller: CheckCaller | undefined,
) {
  const { config, log, signal, commandElsewhere: command } = app;
  const { timezone, hashKey, source, deadline } = config;
  const access = openAccess(config);
  // Reports a damaged users' file now rather than to the first visitor.
  await access.hasUsers();
  const scores = createScoreMemory(ledger);
  // So that the first visitor waits less.
  scoreDays(scores, app.today(), signal).catch((error: unknown) => {
    if (!signal.aborted) log.warn({ fault: describeError(error) }, 'providers not compared yet');
  });
  return createDesk(
    {
      ...{ ledger, scores, operations, timezone, hashKey },
      unsearched: explainUnsearched(config),
      extraColumns: Object.keys(source.keep),
      ...{ deadline, nights, health },
      guestNameDays: config.guestNameDays,
      mailboxPollMs: findMailbox(config) === undefined ? undefined : config.verdicts.pollMinutes * 60_000,
      limits: {
        retry: openRetryPolicy(config),
        resultTimeoutMs: config.file.resultTimeoutMinutes * 60_000,
      },
      ...{ archive: app.archive(), placeUnit: kindOf(config.source).placeUnit, command, clock },
      packEvidence: (reference, stop) => packEvidence({ ...app, signal: stop }, ledger, reference),
    },
    {
      access,
      checkCaller,
      assets: await readDeskAssets(),
      record: (action) => ledger.audit.record(action),
      signal,
      log,
    },
  );
}

/** The operations of the desk, built from the parts of `serve`. */
function openOperations(app: App, { ledger, wantedDays }: Serving, sync: Operations['sync']): Operations {
  const { config, notify } = app;
  return {
    async run(day, options) {
      // With the ledger unavailable, the run would start later, after the visitor got an error.
      await ledger.ping();
      return wantedDays.want(day, { mode: 'run', trigger: 'manual', ...options });
    },
    async accept(run, accepts) {
      const accepted = await acceptIn(accepts, run, { ledger, clock });
      for (const kind of accepts.kinds) notify({ type: 'accepted', kind, run: accepted });
    },
    look: wantedDays.look,
    replay: wantedDays.replay,
    cancel: (day, reason) => cancelIn(app, day, reason),
    sync,
    channels: config.notify.map(({ name, kind }) => ({ name, kind })),
    testChannels: (name) => tryChannels(app, name),
  };
}

/** Syncs the local copy of the mappings: on its schedule, where one is configured, and when somebody asks for it on the desk. */
function openSync(app: App, ledger: Ledger) {
  const { config, notify, signal } = app;
  const { mappings, schedule, timezone } = config;
  /** How many are at work in this process. */
  let syncing = 0;
  let asked = Promise.resolve();
  let failure: string | undefined;

  async function counted(work: () => Promise<void>): Promise<void> {
    syncing += 1;
    try {
      await work();
    } finally {
      syncing -= 1;
    }
  }

  const sync = (stop: AbortSignal) =>
    counted(async () => {
      // Of its own: a connection would be dropped on the way before the next sync.
      const service = openMappingService(config);
      try {
        await syncCopy({ ...app, signal: stop }, service);
        if (!stop.aborted) await followUpSync(app);
      } finally {
        await service.close();
      }
    });

  /** Lists the new master hotels, and compares what moved with the current and upcoming stays. */
  async function watch(stop: AbortSignal): Promise<void> {
    await followUpNewHotels(app);
    await watchCopy({ ...app, signal: stop });
  }

  async function syncAsAsked(): Promise<void> {
    try {
      await sync(signal);
    } catch (error) {
      if (signal.aborted) return;
      failure = describeError(error);
      if (!(error instanceof SyncBusyError)) notify({ type: 'sync-failed', error });
      return;
    }
    try {
      if (!signal.aborted) await watch(signal);
    } catch (error) {
      if (!signal.aborted) notify({ type: 'watch-failed', error });
    }
  }

  const operation: Operations['sync'] = {
    async start() {
      const hold = syncing > 0 ? undefined : await ledger.mappings.holdSync();
      await hold?.release();
      if (!hold || syncing > 0) throw new UsageError('a sync is running already');
      failure = undefined;
      asked = counted(syncAsAsked);
    },
    state: () => ({ isRunning: syncing > 0, ...(failure !== undefined && { failure }) }),
  };
  const scheduler =
    mappings.cron === undefined
      ? undefined
      : createSyncScheduler({
          ...{ sync, watch, ledger, clock, notify, signal },
          // Each process watches them: the ledger makes sure that only one of them syncs.
          cronTimes: createCronTimes(mappings.cron, timezone),
          checkMs: schedule.resumeMinutes * 60_000,
        });
  return {
    operation,
    scheduler,
    /** Waits for the one that was asked for. Call it after aborting the signal. */
    idle: () => asked,
  };
}

/** After so long without a request, somebody has to sign in again. */
const idleMs = 30 * 60_000;

/** Who may use the pages of `serve`. */
function openAccess(config: Config): Access {
  const { host, hosts, publicUrl, proxies, signIn } = config.server;
  const others = [...hosts, ...proxies, ...(publicUrl === undefined ? [] : [publicUrl])];
  return createAccess({
    users: findUsersFile(config),
    // Host names, proxies or a public URL imply a proxy in front, through which others connect.
    isLocal: isLoopbackAddress(host) && others.length === 0,
    proxies,
    publicUrl,
    nameHeader: signIn?.header,
    idleMs,
    clock,
  });
}

/** Runs the nightly schedule, answers the end-of-day hook and serves the desk, until it is asked to stop. */
export default command({
  place: ['common', 9],
  summary: 'run the nightly schedule, answer the end-of-day hook, serve the desk',
  options: {
    port: option('--port <port>', 'listen on this port (default: as configured)', {
      read: wholeNumber(0, 65_535),
    }),
  },
  logs: true,
  examples: `
Examples:
  hotel-review serve              on 127.0.0.1:8080, or as configured
  hotel-review serve --port 0     on a free port; the log says which`,
  run: serve,
});

export async function serve(app: App, { port }: { readonly port: number | undefined }): Promise<number> {
  const { config, log, signal, notify } = app;
  const { schedule: timing, timezone } = config;
  const cronTimes = createCronTimes(timing.cron, timezone);
  const giveUps = createCronTimes(toDailyPattern(timing.giveUpAfter), timezone);
  const asked = port ?? config.server.port;
  if (!(await waitForLedger(app, { port: asked, hasHook: true }))) return exitCode.done;
  const observed = await openObserved(app);
  const ledger = await app.ledger();
  app.observe(tellFailures(ledger, notify));
  const parts = await app.review();
  const closing = new AbortController();
  const untilClosed = AbortSignal.any([signal, closing.signal]);
  const working: { close(): Promise<void> }[] = [parts.workforce];
  const background: (() => Promise<unknown>)[] = [];
  // All at once, so that each has the whole time that a stop may take; then the ledger records what became of their steps.
  app.beforeClose(async () => {
    closing.abort();
    await Promise.all(working.map((part) => part.close()));
    await Promise.all(background.map((ended) => ended()));
  });
  const wantedDays = createWantedDays({
    parts: { ...parts, findSourceDeadline: (run) => findSourceDeadline(run, giveUps) },
    configuredDelivery: config.delivery,
    permits: runsAtOnce,
    cronTimes,
    notify,
    onNewRun: ({ id, day, trigger }) =>
      recordLook(ledger, { action: 'run', subject: day, details: { run: id, trigger } }, app, 'serve'),
    async afterReview(run) {
      await followUpRuns(app);
      await saveReport(app, run);
      await applyConfiguredRetention(app);
    },
    signal,
  });
  const reviewScheduler = createReviewScheduler({
    ledger,
    cronTimes,
    giveUps,
    review: (day, stop) => wantedDays.review(day, { mode: 'run', trigger: 'schedule', by: 'schedule' }, stop),
    timing,
    ...{ clock, notify, signal },
  });
  const lateResultScheduler =
    config.file.sftp &&
    createLateResultScheduler({
      ledger,
      cronTimes,
      guestNameDays: config.guestNameDays,
      hasNewResult: async (run, stop) => (await parts.deliveryFor('file').hasNewResult?.(run, stop)) === true,
      review: ({ id, day, trigger }, stop) =>
        wantedDays.review(
          createBusinessDay(day, timezone),
          { mode: 'resume', trigger, runId: id, by: 'result' },
          stop,
        ),
      ...{ clock, notify, signal },
    });
  const todayScheduler =
    timing.today === undefined
      ? undefined
      : createTodayScheduler({
          // Each process watches them: the ledger makes sure that only one of them reviews a cron time's day.
          cronTimes: createCronTimes(timing.today, timezone),
          checkMs: timing.resumeMinutes * 60_000,
          nights: cronTimes,
          stopsBeforeNight: !parts.workforce.letsOthersJoin,
          review: (day, cronTimeAt, stop) =>
            wantedDays.review(day, { mode: 'today', trigger: 'today', by: 'schedule', cronTimeAt }, stop),
          ...{ clock, notify, signal },
        });
  const sync = openSync(app, ledger);
  const schedulers = [
    ...[wantedDays, reviewScheduler, lateResultScheduler, todayScheduler],
    sync.scheduler,
  ].filter((one) => one !== undefined);
  working.push(...schedulers);
  background.push(sync.idle);
  const serving = { ledger, wantedDays, cronTimes };
  const mailPoller = await openMailPoller(app);
  if (mailPoller) working.push(mailPoller);
  const checkCaller = createCallerCheck(config.hook.secret, createCallerFinder(config.server.proxies), clock);
  const hook = checkCaller && {
    checkCaller,
    runs: hookRunsOf(serving, parts.gate, timing.catchUpDays),
  };
  const { health, openServer } = observed;
  const operations = openOperations(app, serving, sync.operation);
  const desk = await openDesk({ ...app, signal: untilClosed }, serving, operations, health, checkCaller);
  const server = openServer(asked, { ...(hook && { hook }), desk });
  working.push(server);
  const { url } = await server.listen();
  log.info({ url, cron: timing.cron, timezone, next: cronTimes.next(new Date(clock())) }, 'serving');
  app.say(`Serving on ${url}${hook ? `; the hook is ${url}/hooks/end-of-day` : ''}. Ctrl-C stops.`);
  await logQueueProblems(config, log, signal);
  mailPoller?.start();
  const watched = parts.gate.watch(untilClosed, app.tellOfLedger);
  const canaries = watchCanaries({ ...app, signal: untilClosed });
  // Also what an earlier process left unfinished.
  const followingUp = keepFollowingUp(app);
  background.push(
    () => canaries,
    () => followingUp,
    () => watched,
  );
  for (const scheduler of schedulers) scheduler.start();
  await untilAborted(signal);
  notify({ type: 'stopping', graceMs: config.workers.stopSeconds * 1000 });
  return exitCode.done;
}

function hookRunsOf(
  { ledger, wantedDays, cronTimes }: Serving,
  gate: LedgerGate,
  catchUpDays: number,
): HookRuns {
  return {
    findFirstDay: (day) => findFirstAskableDay(day, ledger, cronTimes, new Date(clock()), catchUpDays),
    async findRun(requestId) {
      await gate.check();
      const runId = await ledger.runs.findOfHook(requestId);
      return runId === undefined ? undefined : { runId, day: dayOfRunId(runId) };
    },
    async start(day, requestId, expected) {
      // With the ledger unavailable, the run would start later, after the caller got an error.
      await gate.ping();
      await gate.mayReview('body');
      const { runId } = await wantedDays.want(day, { mode: 'run', trigger: 'hook', expected });
      if (requestId !== undefined) await ledger.runs.rememberHook({ id: requestId, runId, at: clock() });
      return { runId, day: day.iso };
    },
  };
}
