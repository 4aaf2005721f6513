import { randomUUID } from 'node:crypto';
import { pause } from '../src/async/abort.js';
import { openChannel } from '../src/channels/open-channel.js';
import type { LedgerUnusableError } from '../src/ledger/errors.js';
import { isWanted } from '../src/notifications/routing.js';
import { createCallerCheck } from '../src/server/caller.js';
import { createHealth } from '../src/server/health.js';
import { createServer } from '../src/server/server.js';
import { describeError } from '../src/text/safe-error.js';
import type { App } from './app.js';
import { clock } from './clock.js';
import { findConfiguredMisfit } from './ledger-gate.js';
import { createLocalPathShortener } from './notifications.js';

/** How often to look whether the ledger was put right. */
const lookEveryMs = 5_000;

/** Tells people once what is wrong with the ledger. Never rejects. */
export type TellOfLedger = (problem: LedgerUnusableError) => Promise<void>;

/**
 * Tells people directly that nothing is reviewed, not through the ledger, which is the wrong one: each channel once, and those that did
 * not accept it again the next time.
 */
export function createLedgerTelling({ config, log, signal, warn }: App): TellOfLedger {
  const { notify, proxy, server } = config;
  const shorten = createLocalPathShortener(config);
  const notice = { event: 'run-failed', severity: 'critical', facts: {} } as const;
  const left = new Set(notify.filter((channel) => isWanted(notice, channel)));
  const id = randomUUID();
  let isLogged = false;
  let telling = Promise.resolve();

  async function tell(problem: LedgerUnusableError): Promise<void> {
    if (!isLogged) log.error({ problem: problem.message }, 'nothing is reviewed');
    isLogged = true;
    for (const settings of left) {
      try {
        const channel = await openChannel(settings, { proxy, clock, warn });
        try {
          await channel.send(
            {
              ...{ id, event: notice.event, severity: notice.severity, stage: 'raised', counts: {} },
              incident: `ledger ${id}`,
              title: 'Nothing is reviewed: the ledger is not the right one',
              text: shorten(problem.message),
              ...(server.publicUrl !== undefined && { url: server.publicUrl }),
              raisedAt: clock(),
            },
            signal,
          );
        } finally {
          await channel.close();
        }
        left.delete(settings);
      } catch (error) {
        if (!signal.aborted) warn(`${settings.name} could not be told: ${describeError(error)}`);
      }
    }
  }

  return (problem) => {
    telling = telling.then(() => tell(problem));
    return telling;
  };
}

/**
 * Waits until the ledger is the one of the archive: a process that works on and on stays up, is not ready, and touches neither. With a
 * port it answers meanwhile; the hook gets 503.
 *
 * @returns false if the process was asked to stop
 */
export async function waitForLedger(
  app: App,
  tell: TellOfLedger,
  server: { readonly port: number; readonly hasHook: boolean } | undefined,
): Promise<boolean> {
  const { config, signal, log } = app;
  let problem = await findConfiguredMisfit(config);
  if (!problem) return true;
  const refuse = async (): Promise<never> => {
    throw problem;
  };
  const waiting = server && openWaitingServer(app, server, refuse);
  if (waiting) log.info(await waiting.listen(), 'listening, not ready');
  try {
    while (problem && !signal.aborted) {
      await tell(problem);
      await pause(lookEveryMs, signal);
      problem = await findConfiguredMisfit(config);
    }
  } finally {
    await waiting?.close();
  }
  return !signal.aborted;
}

function openWaitingServer(
  { config, log }: App,
  { port, hasHook }: { readonly port: number; readonly hasHook: boolean },
  refuse: () => Promise<never>,
) {
  const { host, hosts, metricsToken } = config.server;
  const checkCaller = hasHook ? createCallerCheck(config.hook.secret, clock) : undefined;
  return createServer({
    ...{ host, port, hosts, clock, log },
    timezone: config.timezone,
    shortenPaths: createLocalPathShortener(config),
    health: createHealth({ ledger: refuse }, clock),
    metrics: { scrape: refuse, countHookRequest() {} },
    ...(metricsToken !== undefined && { metricsToken }),
    ...(checkCaller && {
      hook: { checkCaller, runs: { findFirstDay: refuse, findRun: refuse, start: refuse } },
    }),
  });
}
