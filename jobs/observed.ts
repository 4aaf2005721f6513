import type { Config } from '../src/config/load.js';
import { readReached } from '../src/mappings/sync-mappings.js';
import type { ReviewEvent } from '../src/review/events.js';
import type { Ledger } from '../src/review/ledger.js';
import { createHealth } from '../src/server/health.js';
import type { HookSettings } from '../src/server/hook.js';
import { createMetrics, type Metrics } from '../src/server/metrics.js';
import { createServer, type Server } from '../src/server/server.js';
import { clock } from './clock.js';
import { composeReview } from './compose.js';
import type { Terminal } from './terminal.js';

/** The parts of a review in a process that stays, with what lets others see how it fares. */
export async function composeObserved(config: Config, { notify: tell, log, voice }: Terminal) {
  let metrics: Metrics | undefined;
  const notify = (event: ReviewEvent) => {
    tell(event);
    metrics?.notify(event);
  };
  const { parts, close } = await composeReview(config, { notify, voice });
  const { ledger, workforce } = parts;
  const countWaiting = workforce.isShared ? () => workforce.countWaiting() : undefined;
  const counted = createMetrics({
    summarise: () => ledger.summarise(),
    ...(countWaiting && { queueDepth: countWaiting }),
    ...(config.mappings.cron !== undefined && { mappingsReach: () => readMappingsReach(config, ledger) }),
    clock,
    timezone: config.timezone,
  });
  metrics = counted;
  const health = createHealth({
    checks: {
      ledger: () => ledger.ping(),
      ...(countWaiting && { queue: async () => void (await countWaiting()) }),
    },
    clock,
  });
  return {
    parts,
    openServer(port: number, hook?: HookSettings): Server {
      const { timezone, server } = config;
      return createServer({
        host: server.host,
        port,
        timezone,
        statuses: ledger,
        health,
        metrics: counted,
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
  return latest && readReached(latest, 0);
}
