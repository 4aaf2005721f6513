import { readFile, writeFile } from 'node:fs/promises';
import { arch, availableParallelism, loadavg, totalmem } from 'node:os';
import { latency, tryCrews } from './crews.js';
import { type Found, renderFigures } from './figures.js';
import { filesNeed, measureUpload, reviewByFile } from './files.js';
import { paceLedger } from './ledger-calls.js';
import { replaceFigures } from './page.js';
import { findObstacle, openStage, type Stage } from './stage.js';
import { layLines } from './straight-line.js';
import { watchWaiting } from './waiting.js';

/**
 * Estimates what a day of ten or a hundred million bookings would take: the real commands, real databases and a real queue
 * review days that fit this machine, with a service that models latency. `npm run bench:scale` writes the figures into
 * docs/scale.md; `-- --quick` uses small days and only prints them.
 */
const isQuick = process.argv.includes('--quick');
const size = isQuick
  ? {
      sizes: [20_000, 40_000],
      larger: 100_000,
      seconds: 1,
      steps: 200,
      waiting: [2_000],
      watched: 5,
      files: [50_000],
      upload: 20,
    }
  : {
      sizes: [100_000, 250_000, 500_000],
      larger: 2_000_000,
      seconds: 6,
      steps: 1_000,
      waiting: [2_000, 20_000, 100_000],
      watched: 20,
      files: [200_000, 1_000_000],
      upload: 200,
    };

const obstacle = findObstacle();
if (obstacle !== undefined) throw new Error(obstacle);
const started = performance.now();
/** Other load on the machine lengthens wall-clock times. */
const loadBefore = loadavg()[0] ?? 0;
const stage = await openStage();
try {
  const figures = renderFigures(await simulate(stage));
  for (const [name, text] of Object.entries(figures)) console.log(`\n## ${name}\n\n${text}`);
  if (!isQuick) await refreshPage(figures);
} finally {
  await stage.close();
}
console.log(`\n${((performance.now() - started) / 60_000).toFixed(1)} minutes`);

async function simulate(stage: Stage): Promise<Found> {
  const { sizes, larger } = size;
  const oneMachine = await timed('one machine', () =>
    layLines(stage, { engine: 'one machine', sizes, larger, workers: 0 }),
  );
  const manyMachines = await timed('many machines', () =>
    layLines(stage, { engine: 'many machines', sizes, larger, workers: 1 }),
  );
  const tried = await timed('crews', () =>
    tryCrews(stage, { isQuick, seconds: size.seconds, mostBookings: sizes.at(-1) ?? larger }),
  );
  const paces = await timed('ledgers', () => paceLedgers(stage));
  const waiting: Found['waiting'][number][] = [];
  for (const steps of size.waiting) {
    for (const processes of steps === 2_000 ? [1] : [1, 3]) {
      const seconds = size.watched;
      waiting.push(await timed('waiting', () => watchWaiting(stage, { steps, processes, seconds })));
    }
  }
  const files = filesNeed === undefined ? await timed('files', tryFiles) : undefined;
  return {
    machine: describeMachine(),
    oneMachine,
    manyMachines,
    tried,
    paces,
    waiting,
    ...(files && { files }),
  };
}

async function paceLedgers(stage: Stage): Promise<Found['paces']> {
  const paces: Found['paces'][number][] = [];
  for (const [engine, ledger] of [
    ['one machine', 'SQLite'],
    ['many machines', 'PostgreSQL'],
  ] as const) {
    const folder = await stage.openFolder({ engine, bookings: 1 });
    const opened = folder.openLedger();
    let days = 0;
    // A day has at most one active run.
    const nextDay = () => {
      days += 1;
      return new Date(Date.UTC(2026, 0, days)).toISOString().slice(0, 10);
    };
    const crews =
      engine === 'one machine'
        ? ([
            [1, 1],
            [8, 1],
          ] as const)
        : ([
            [1, 1],
            [8, 1],
            [32, 1],
            [32, 4],
          ] as const);
    for (const [concurrency, runs] of crews) {
      paces.push({
        ledger,
        pace: await paceLedger(opened, { steps: size.steps, concurrency, runs }, nextDay),
      });
    }
    await opened.close();
    await folder.remove();
  }
  return paces;
}

async function tryFiles() {
  const days = [];
  for (const bookings of size.files) days.push(await reviewByFile(bookings));
  return { days, uploadMbPerSecond: await measureUpload(size.upload) };
}

async function timed<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
  const started = performance.now();
  const result = await work();
  console.error(`${what}: ${((performance.now() - started) / 1000).toFixed(0)} s`);
  return result;
}

async function refreshPage(figures: Readonly<Record<string, string>>): Promise<void> {
  const path = new URL('../../docs/scale.md', import.meta.url);
  let page = await readFile(path, 'utf8');
  for (const [name, text] of Object.entries(figures)) page = replaceFigures(page, name, text);
  await writeFile(path, page);
}

function describeMachine(): string {
  const memory = `${Math.round(totalmem() / 2 ** 30)} GB`;
  return `Measured on ${new Date().toISOString().slice(0, 10)}: ${availableParallelism()} cores (${arch()}) for commands, servers and service; ${memory} of memory, Node ${process.versions.node}; load ${loadBefore.toFixed(1)} beforehand. Service response times: p50 ${latency.p50Ms} ms, p99 ${latency.p99Ms} ms.`;
}
