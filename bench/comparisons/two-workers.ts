import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { type BodyStage, day, prepareBodyStage } from '../body-stage.js';
import type { Comparison, Contestant } from '../comparison.js';
import { findTimeObstacle, measureProcess } from '../harness/measured-process.js';
import { findServersObstacle, type SharedServers, startSharedServers } from '../shared-servers.js';

const bookings = { full: 500_000, quick: 100_000 };
const latencyMs = 50;

/** The gain of a second worker: `work` processes deliver; the process that started the run only collects and queues. */
export const twoWorkers: Comparison = {
  name: 'two-workers',
  work: 'by body on Redis and PostgreSQL, two workers',
  against: 'one worker',
  unit: 'bookings/s',
  reach: { ratio: { atLeast: 1.85 } },
  findObstacle: () => findTimeObstacle() ?? findServersObstacle(),
  async prepare(scale) {
    const [stage, servers] = await Promise.all([prepareBodyStage(bookings[scale]), startSharedServers()]);
    const count = bookings[scale];
    return {
      ours: { name: 'two workers', run: deliverWith(2, stage, servers, count) },
      other: { name: 'one worker', run: deliverWith(1, stage, servers, count) },
      notes: [
        `The service responds ${latencyMs} ms after reading a body, without parsing it. \`run --detach\` fills the queue beforehand; from first call to last response.`,
      ],
      async close() {
        await servers.close();
        await stage.close();
      },
    };
  },
};

function deliverWith(
  workers: number,
  stage: BodyStage,
  servers: SharedServers,
  count: number,
): Contestant['run'] {
  return async () => {
    const settings = await servers.empty();
    await stage.configure(settings);
    await stage.service.begin({ latencyMs, parses: false });
    const crew = Array.from({ length: workers }, () => startWorker(stage));
    try {
      await Promise.all(crew.map(hasBegun));
      await measureProcess(stage.command('run', '--day', day, '--detach'));
      await hasEnded(servers, settings.ledger);
    } finally {
      for (const worker of crew) worker.kill('SIGTERM');
      await Promise.all(crew.map((worker) => worker.exitCode ?? once(worker, 'exit')));
    }
    const received = await stage.service.end();
    if (received.bookings !== count)
      throw new Error(`the service received ${received.bookings} bookings, expected ${count}`);
    return { value: count / received.seconds };
  };
}

function startWorker(stage: BodyStage): ChildProcess {
  const [program = '', ...args] = stage.command('work');
  return spawn(program, args, { cwd: stage.folder, stdio: ['ignore', 'ignore', 'pipe'] });
}

/** @throws Error when it ends instead */
async function hasBegun(worker: ChildProcess): Promise<void> {
  let output = '';
  worker.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  while (!output.includes('work')) {
    if (worker.exitCode !== null) throw new Error(`a worker ended with ${worker.exitCode}: ${output}`);
    await pause(10);
  }
}

async function hasEnded({ postgres }: SharedServers, ledger: string): Promise<void> {
  for (;;) {
    const [run] = await postgres.query(ledger, 'SELECT state FROM hotel_review.runs');
    if (run?.state === 'succeeded') return;
    if (run?.state !== 'delivering')
      throw new Error(`expected a run that is being delivered, got: ${run?.state}`);
    // Each check opens a connection: rare enough not to matter.
    await pause(1_000);
  }
}
