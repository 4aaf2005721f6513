import { UsageError } from '../src/base/usage-error.js';
import { createCallerFinder } from '../src/config/access/caller.js';
import { createHealth } from '../src/desk/server/health.js';
import { createEventCounters, createMetrics } from '../src/desk/server/metrics.js';
import { createServer, type Server, type ServerOptions } from '../src/desk/server/server.js';
import type { App } from './app.js';
import { clock } from './clock.js';
import { findNames, readFacts } from './metrics-file.js';
import { createLocalPathShortener } from './notifications.js';

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
    openServer(port: number, serving?: Pick<ServerOptions, 'hook' | 'desk'>): Server {
      const opened = createServer({ ...composeServer(app), port, health, metrics, ...serving });
      return { close: opened.close, listen: () => opened.listen().catch(explainAddress) };
    },
  };
}

/** What every server of a configuration has. */
export function composeServer({ config, log }: App) {
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
