import type { Config } from '../src/config/load.js';
import { readCompleteUntil } from '../src/mappings/sync-mappings.js';
import type { Ledger } from '../src/review/ledger.js';
import { createEventCounters } from '../src/server/event-counters.js';
import { createHealth } from '../src/server/health.js';
import type { HookSettings } from '../src/server/hook.js';
import { createMetrics } from '../src/server/metrics.js';
import { createServer, type Server } from '../src/server/server.js';
import { clock } from './clock.js';
import { composeReview } from './compose.js';
import type { Terminal } from './terminal.js';

/** The parts of a review in a long-running process, with health and metrics. */
export async function composeObserved(config: Config, { notifyCounting, log, sourceMessages }: Terminal) {
  const counters = createEventCounters(clock);
  const notify = notifyCounting(counters);
  const { parts, close } = await composeReview(config, { notify, sourceMessages });
  const { ledger, workforce } = parts;
  const { countWaiting } = workforce;
  const metrics = createMetrics({
    counters,
    summarise: (today) => ledger.summarise(today),
    ...(countWaiting && { queueDepth: countWaiting }),
    ...(config.mappings.cron !== undefined && { mappingsReach: () => readMappingsReach(config, ledger) }),
    clock,
    timezone: config.timezone,
  });
  const health = createHealth({
    checks: {
      ledger: () => ledger.ping(),
      ...(countWaiting && { queue: async () => void (await countWaiting()) }),
    },
    clock,
  });
  return {
    parts,
    notify,
    openServer(port: number, hook?: HookSettings): Server {
      const { timezone, server } = config;
      return createServer({
        host: server.host,
        port,
        timezone,
        statuses: ledger,
        health,
        metrics,
        clock,
        log,
        ...(hook && { hook }),
      });
    },
    close,
  };
}

async function readMappingsReach({ mappings }: Config, ledger: Ledger): Promise<number | undefined> {
  const latest = await ledger.mappings.latestSync(mappings.providerFamily ?? '');
  return latest && readCompleteUntil(latest, 0);
}
