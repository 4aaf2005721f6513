import { pause } from '../src/base/abort.js';
import { UsageError } from '../src/base/safe-error.js';
import { createCallerFinder } from '../src/desk/access/caller.js';
import { readAssets } from '../src/desk/frame.js';
import { createCallerCheck } from '../src/desk/server/check-caller.js';
import { createHealth } from '../src/desk/server/health.js';
import { createEventCounters, createMetrics } from '../src/desk/server/metrics.js';
import { createServer, type Server, type ServerOptions } from '../src/desk/server/server.js';
import type { App } from './app.js';
import { clock } from './clock.js';
import { findConfiguredMisfit } from './ledger-gate.js';
import { findNames, readFacts } from './metrics-file.js';
import { createLocalPathShortener } from './notifications.js';

/** How often to look whether the ledger was put right. */
const lookEveryMs = 5_000;

/**
 * Waits until the ledger is the one of the archive: a process that works on and on stays up, is not ready, and touches neither. With a
 * port it answers meanwhile; the hook gets 503.
 *
 * @returns false if the process was asked to stop
 */
export async function waitForLedger(
  app: App,
  { port, hasHook }: { readonly port: number | undefined; readonly hasHook: boolean },
): Promise<boolean> {
  const { config, signal, log } = app;
  let problem = await findConfiguredMisfit(config);
  if (!problem) return true;
  const refuse = async (): Promise<never> => {
    throw problem;
  };
  const waiting = port === undefined ? undefined : openWaitingServer(app, { port, hasHook }, refuse);
  if (waiting) log.info(await waiting.listen(), 'listening, not ready');
  try {
    while (problem && !signal.aborted) {
      await app.tellOfLedger(problem);
      await pause(lookEveryMs, signal);
      problem = await findConfiguredMisfit(config);
    }
  } finally {
    await waiting?.close();
  }
  return !signal.aborted;
}

function openWaitingServer(
  app: App,
  { port, hasHook }: { readonly port: number; readonly hasHook: boolean },
  refuse: () => Promise<never>,
) {
  const served = composeServer(app);
  const checkCaller = hasHook
    ? createCallerCheck(app.config.hook.secret, served.findCaller, clock)
    : undefined;
  return createServer({
    ...served,
    port,
    health: createHealth({ ledger: refuse }, { clock, log: app.log }),
    metrics: { scrape: refuse, countHookRequest() {} },
    ...(checkCaller && {
      hook: { checkCaller, runs: { findFirstDay: refuse, findRun: refuse, start: refuse } },
    }),
  });
}

/** They ship with the package. Its bundle has the files of `jobs` in one folder, as here. */
const assetsFolder = new URL('../src/desk/assets/', import.meta.url);

/** The style sheet and the scripts of the pages. */
export const readDeskAssets = () => readAssets(assetsFolder);

/** Counts the events of a long-running process, and answers for its health. */
export async function openObserved(app: App) {
  const { config, log } = app;
  const counters = createEventCounters(clock);
  app.observe(counters.notify);
  const { workforce, gate } = await app.review();
  const ledger = await app.ledger();
  const { countWaiting, checkQueue } = workforce;
  const metrics = createMetrics({
    counters,
    readFacts: (signal) => readFacts(config, ledger.stoppedBy(signal)),
    ...(countWaiting && { queueDepth: countWaiting }),
    oldestNames: () => findNames(config, ledger),
    clock,
    timezone: config.timezone,
  });
  const checks = {
    ledger: gate.ping,
    archive: gate.checkArchive,
    ...(checkQueue && { queue: checkQueue }),
  };
  const health = createHealth(checks, { clock, log });
  return {
    health,
    /** @param serving only `serve` has a hook and pages */
    openServer(port: number, serving: Pick<ServerOptions, 'hook' | 'desk'> = {}): Server {
      const opened = createServer({ ...composeServer(app), port, health, metrics, ...serving });
      return { close: opened.close, listen: () => opened.listen().catch(explainAddress) };
    },
  };
}

/** What every server of a configuration has. */
function composeServer({ config, log }: App) {
  const { host, hosts, publicUrl, proxies, metricsToken } = config.server;
  return {
    host,
    hosts: publicUrl === undefined ? hosts : [...hosts, new URL(publicUrl).hostname],
    findCaller: createCallerFinder(proxies),
    ...(metricsToken !== undefined && { metricsToken }),
    shortenPaths: createLocalPathShortener(config),
    timezone: config.timezone,
    clock,
    log,
  };
}

/** Turns an unusable address into a UsageError about the options. */
function explainAddress(error: unknown): never {
  if (!(error instanceof Error && 'syscall' in error)) throw error;
  if (error.syscall !== 'listen' && error.syscall !== 'getaddrinfo') throw error;
  throw new UsageError(
    `${error.message}; choose another --port, or another server.host in the configuration`,
  );
}
