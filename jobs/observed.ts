import type { Config } from '../src/config/load.js';
import { readCompleteUntil } from '../src/mappings/sync-bounds.js';
import { countMissedInRow } from '../src/review/canary.js';
import type { Ledger } from '../src/review/ledger.js';
import { findOldestNames } from '../src/review/stored/oldest-names.js';
import { createEventCounters } from '../src/server/event-counters.js';
import { createHealth } from '../src/server/health.js';
import type { HookSettings } from '../src/server/hook.js';
import { createMetrics } from '../src/server/metrics.js';
import { createServer, type Server } from '../src/server/server.js';
import { createPathShortener } from '../src/server/shown-paths.js';
import { readTlsIdentity } from '../src/server/tls.js';
import { clock } from './clock.js';
import { composeReview } from './compose.js';
import { openArchive, openSpool } from './deliveries.js';
import type { Terminal } from './terminal.js';

/** More nights in a row are no worse. */
const canariesCounted = 100;

/** The parts of a review in a long-running process, with health and metrics. */
export async function composeObserved(config: Config, terminal: Terminal) {
  const { notifyCounting, log } = terminal;
  const counters = createEventCounters(clock);
  const notify = notifyCounting(counters);
  const { parts, ledger, close } = await composeReview(config, {
    ...terminal,
    notify,
    warn: (message) => log.warn(message),
  });
  const { countWaiting } = parts.workforce;
  const metrics = createMetrics({
    counters,
    summarise: (today) => ledger.summarise(today),
    ...(countWaiting && { queueDepth: countWaiting }),
    ...(config.mappings.cron !== undefined && { mappingsReach: () => readMappingsReach(config, ledger) }),
    oldestNames: () =>
      findOldestNames(
        { ledger, archive: openArchive(config), spool: openSpool(config) },
        { now: clock(), timezone: config.timezone },
      ),
    missedCanaries: async () =>
      countMissedInRow(await ledger.listCanaries({ limit: canariesCounted }), clock()),
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
    ledger,
    notify,
    /** @param serving only `serve` has a hook and a certificate */
    openServer(port: number, serving?: { readonly hook: HookSettings }): Server {
      const { timezone, server } = config;
      const { host, hosts, tls } = server;
      return createServer({
        host,
        port,
        hosts,
        shortenPaths: createPathShortener({ folder: config.folder, paths: listLocalPaths(config) }),
        timezone,
        statuses: ledger,
        health,
        metrics,
        clock,
        log,
        ...serving,
        ...(serving && tls && { readIdentity: () => readTlsIdentity(tls) }),
      });
    },
    close,
  };
}

/** What messages may name besides paths below the configuration's folder. */
function listLocalPaths({ ledger, archive, file, source }: Config): string[] {
  return [
    'path' in ledger ? ledger.path : '',
    'path' in archive ? archive.path : '',
    file.spool,
    'path' in source ? source.path : '',
  ];
}

async function readMappingsReach({ mappings }: Config, ledger: Ledger): Promise<number | undefined> {
  const latest = await ledger.mappings.latestSync(mappings.providerFamily ?? '');
  return latest && readCompleteUntil(latest, 0);
}
