import { untilAborted } from '../../src/base/abort.js';
import { UsageError } from '../../src/base/safe-error.js';
import { LedgerAwayError } from '../../src/ledger/errors.js';
import { command, option, wholeNumber } from '../command.js';
import { exitCode } from '../exit-code.js';
import { keepFollowingUp } from '../follow-up.js';
import { logQueueProblems } from '../review.js';
import { openObserved, waitForLedger } from '../server.js';

/** A worker: performs the steps that the queue hands out, of any run, until it is asked to stop. */
export default command({
  place: ['running', 2],
  summary: 'perform steps of any run from the queue on Redis, until stopped',
  options: {
    port: option('--port <port>', 'serve /healthz, /readyz and /metrics on this port', {
      read: wholeNumber(0, 65_535),
    }),
  },
  logs: true,
  examples: `
Examples:
  hotel-review work               work until Ctrl-C; start as many as you like
  hotel-review work --port 9100   the same, with health and metrics`,

  async run(app, { port }) {
    const { config, log, signal, notify } = app;
    if (config.queue.kind !== 'redis')
      throw new UsageError(
        `work takes its steps from Redis: set queue to redis://…, or use \`${app.command('run')}\``,
      );
    if (!(await waitForLedger(app, { port, hasHook: false }))) return exitCode.done;
    const server = port === undefined ? undefined : (await openObserved(app)).openServer(port);
    const { workforce, gate } = await app.review();
    const followingUp: Promise<void>[] = [];
    // At once, so that each has the whole time that a stop may take.
    app.beforeClose(() => Promise.all([server?.close(), workforce.close(), ...followingUp]));
    const ledger = await app.ledger();
    // Problems of the ledger surface now rather than with the first step.
    await ledger.runs.listActive();
    if (server) log.info(await server.listen(), 'listening');
    await logQueueProblems(config, log, signal);
    notify({ type: 'working' });
    // The process that started a run may be gone when a worker finishes it.
    const givenUp = new AbortController();
    const giveUp = (problem: Error) => givenUp.abort(problem);
    app.observe((event) => {
      if (event.type === 'queue-given-up') giveUp(event.error);
    });
    const ending = AbortSignal.any([signal, givenUp.signal]);
    const watched = gate.watch(ending, async (problem) => {
      await app.tellOfLedger(problem);
      if (problem instanceof LedgerAwayError) giveUp(problem);
    });
    followingUp.push(keepFollowingUp({ ...app, signal: ending }), watched);
    await untilAborted(ending);
    notify({ type: 'stopping', graceMs: config.workers.stopSeconds * 1000 });
    // A supervisor starts it again.
    if (givenUp.signal.aborted) throw givenUp.signal.reason;
    return exitCode.done;
  },
});
