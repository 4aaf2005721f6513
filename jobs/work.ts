import { pause, untilAborted } from '../src/async/abort.js';
import type { WorkOptions } from '../src/cli/commands/service.js';
import { exitCode } from '../src/cli/exit-code.js';
import { UsageError } from '../src/text/usage-error.js';
import type { App } from './app.js';
import { followUpRuns } from './follow-up.js';
import { logQueueProblems } from './workforces.js';

/** How often to look for runs whose findings have opened no cases yet. */
const followUpMs = 60_000;

/** A worker: performs the steps that the queue hands out, of any run, until it is asked to stop. */
export async function work(app: App, { port }: WorkOptions): Promise<number> {
  const { config, log, signal } = app;
  if (config.queue.kind !== 'redis')
    throw new UsageError(
      `work takes its steps from Redis: set queue to redis://…, or use \`${app.command('run')}\``,
    );
  const server = port === undefined ? undefined : await openServer(app, port);
  const ledger = await app.ledger();
  await app.review();
  let followingUp: Promise<void> | undefined;
  try {
    // Problems of the ledger surface now rather than with the first step.
    await ledger.listActiveRuns();
    if (server) log.info(await server.listen(), 'listening');
    await logQueueProblems(config, log, signal);
    app.notify({ type: 'working' });
    followingUp = keepFollowingUp(app);
    await untilAborted(signal);
    app.notify({ type: 'stopping', graceMs: config.workers.stopSeconds * 1000 });
  } finally {
    await followingUp;
    await server?.close();
  }
  return exitCode.done;
}

/** The process that started a run may be gone when a worker finishes it. */
async function keepFollowingUp(app: App): Promise<void> {
  while (!app.signal.aborted) {
    await followUpRuns(app);
    await pause(followUpMs, app.signal);
  }
}

/** Without a port, the server and its metrics are not even loaded. */
async function openServer(app: App, port: number) {
  const { openObserved } = await import('./observed.js');
  return (await openObserved(app)).openServer(port);
}
