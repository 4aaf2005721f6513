import { pause } from '../src/base/abort.js';
import { createCallerCheck } from '../src/desk/server/caller.js';
import { createHealth } from '../src/desk/server/health.js';
import { createServer } from '../src/desk/server/server.js';
import type { App } from './app.js';
import { clock } from './clock.js';
import { findConfiguredMisfit } from './ledger-gate.js';
import { composeServer } from './observed.js';

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
