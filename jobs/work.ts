import { pause, untilAborted } from '../src/async/abort.js';
import type { CaseLedger } from '../src/cases/case-store.js';
import type { WorkOptions } from '../src/cli/commands/service.js';
import { exitCode } from '../src/cli/exit-code.js';
import type { Config } from '../src/config/load.js';
import { UsageError } from '../src/review/refusals.js';
import { composeReview } from './compose.js';
import { followUpRuns } from './follow-up.js';
import type { Terminal } from './terminal.js';
import { logQueueProblems } from './workforces.js';

/** How often to look for runs whose findings have opened no cases yet. */
const followUpMs = 60_000;

/** A worker: performs the steps that the queue hands out, of any run, until it is asked to stop. */
export async function work(config: Config, { port }: WorkOptions, terminal: Terminal): Promise<number> {
  if (config.queue.kind !== 'redis')
    throw new UsageError(
      `work takes its steps from Redis: set queue to redis://…, or use \`${terminal.command('run')}\``,
    );
  const { parts, ledger, notify, server, close } = await open(config, port, terminal);
  let followingUp: Promise<void> | undefined;
  try {
    // Problems of the ledger surface now rather than with the first step.
    await parts.ledger.listActiveRuns();
    if (server) terminal.log.info(await server.listen(), 'listening');
    await logQueueProblems(config, terminal.log, terminal.signal);
    terminal.notify({ type: 'working' });
    followingUp = keepFollowingUp(config, ledger, { ...terminal, notify });
    await untilAborted(terminal.signal);
    terminal.notify({ type: 'stopping', graceMs: config.workers.stopSeconds * 1000 });
  } finally {
    await followingUp;
    await Promise.all([server?.close(), close()]);
  }
  return exitCode.done;
}

/** The process that started a run may be gone when a worker finishes it. */
async function keepFollowingUp(
  config: Config,
  ledger: CaseLedger,
  { notify, log, signal }: Terminal,
): Promise<void> {
  const warn = (message: string) => log.warn(message);
  while (!signal.aborted) {
    await followUpRuns(config, { ledger, notify, warn, signal });
    await pause(followUpMs, signal);
  }
}

/** Without a port, the server and its metrics are not even loaded. */
async function open(config: Config, port: number | undefined, terminal: Terminal) {
  if (port === undefined) {
    return { ...(await composeReview(config, terminal)), notify: terminal.notify, server: undefined };
  }
  const { composeObserved } = await import('./observed.js');
  const observed = await composeObserved(config, terminal);
  return { ...observed, server: observed.openServer(port) };
}
