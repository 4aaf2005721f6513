import { untilAborted } from '../src/async/abort.js';
import type { WorkOptions } from '../src/cli/commands/service.js';
import { exitCode } from '../src/cli/exit-code.js';
import type { Config } from '../src/config/load.js';
import { UsageError } from '../src/review/refusals.js';
import { composeReview } from './compose.js';
import type { Terminal } from './terminal.js';
import { logQueueProblems } from './workforces.js';

/** A worker: performs the steps that the queue hands out, of any run, until it is asked to stop. */
export async function work(config: Config, { port }: WorkOptions, terminal: Terminal): Promise<number> {
  if (config.queue.kind !== 'redis')
    throw new UsageError(
      `work takes its steps from Redis: set queue to redis://…, or use \`${terminal.command('run')}\``,
    );
  const { parts, server, close } = await open(config, port, terminal);
  try {
    // Problems of the ledger surface now rather than with the first step.
    await parts.ledger.listActiveRuns();
    if (server) terminal.log.info(await server.listen(), 'listening');
    await logQueueProblems(config, terminal.log, terminal.signal);
    terminal.notify({ type: 'working' });
    await untilAborted(terminal.signal);
    terminal.notify({ type: 'stopping', graceMs: config.workers.stopSeconds * 1000 });
  } finally {
    await Promise.all([server?.close(), close()]);
  }
  return exitCode.done;
}

/** Without a port, the server and its metrics are not even loaded. */
async function open(config: Config, port: number | undefined, terminal: Terminal) {
  if (port === undefined) return { ...(await composeReview(config, terminal)), server: undefined };
  const { composeObserved } = await import('./observed.js');
  const observed = await composeObserved(config, terminal);
  return { ...observed, server: observed.openServer(port) };
}
