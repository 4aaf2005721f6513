import type { Tried } from './crews.js';
import type { FileDay } from './files.js';
import type { LedgerPace } from './ledger-calls.js';
import { gigabytesKept, hoursAtLimit, predict, processesFor } from './model.js';
import { formatFigure as figure, formatShare, renderTable } from './page.js';
import { retryAfterSeconds } from './service.js';
import type { Quantity, StraightLines } from './straight-line.js';
import type { Waiting } from './waiting.js';

/** All results of the simulation. */
export interface Found {
  readonly machine: string;
  readonly oneMachine: StraightLines;
  readonly manyMachines: StraightLines;
  readonly tried: readonly Tried[];
  readonly paces: readonly { readonly ledger: string; readonly pace: LedgerPace }[];
  readonly waiting: readonly Waiting[];
  readonly files?: { readonly days: readonly FileDay[]; readonly uploadMbPerSecond: number };
}

const days = [1e6, 10e6, 100e6] as const;
const millions = (bookings: number) => `${figure(bookings / 1e6)} million`;
const hours = (value: number) => (value < 1 ? `${figure(60 * value)} min` : `${figure(value)} h`);

/** The text between the markers of docs/scale.md, by marker. */
export function renderFigures(found: Found): Readonly<Record<string, string>> {
  const { oneMachine, manyMachines, tried, paces, waiting, files } = found;
  const bodyLine = tried[0];
  return {
    machine: `${found.machine} ${describeFit(oneMachine)}`,
    'one-machine': renderLines(oneMachine),
    'many-machines': renderLines(manyMachines),
    crews: renderTable(
      [
        'what',
        'processes',
        'concurrency',
        'calls/s predicted',
        'measured',
        'deviation',
        'PostgreSQL connections',
        'Redis',
      ],
      tried.map(({ name, crew, predicted, measured, deviation, reviewed }, index) => [
        name,
        figure(crew.processes),
        figure(crew.concurrency),
        index === 0 ? '' : figure(predicted),
        figure(measured),
        index === 0 ? '' : formatShare(deviation),
        figure(reviewed.connections),
        figure(reviewed.redisClients),
      ]),
    ),
    ledger: renderTable(
      ['ledger', 'runs', 'concurrent', 'steps/s', 'claim p50, ms', 'p99', 'record p50, ms', 'p99'],
      paces.map(({ ledger, pace }) => [
        ledger,
        ...[pace.runs, pace.concurrency, pace.stepsPerSecond].map(figure),
        ...[pace.claimP50Ms, pace.claimP99Ms, pace.recordP50Ms, pace.recordP99Ms].map(figure),
      ]),
    ),
    waiting: renderTable(
      ['waiting steps', 'processes', 'Redis, % of a core', 'PostgreSQL', 'each process', 'Redis bytes/step'],
      waiting.map((each) => [
        figure(each.steps),
        figure(each.processes),
        ...[each.redis, each.postgres, each.process].map((share) => figure(100 * share)),
        figure(each.redisBytesPerStep),
      ]),
    ),
    age: renderTable(
      [
        'ledger',
        'bookings',
        'show, ms',
        'blank names, s per million',
        'remove',
        'MB as sent',
        'blanked',
        'removed',
        'WAL, MB',
      ],
      [oneMachine, manyMachines].map(({ engine, aged }) => [
        engine === 'one machine' ? 'SQLite' : 'PostgreSQL',
        figure(aged.bookings),
        figure(aged.showMs),
        figure((1e6 * aged.blankSeconds) / aged.bookings),
        figure((1e6 * aged.pruneSeconds) / aged.bookings),
        ...[aged.bytes.asSent, aged.bytes.blanked, aged.bytes.pruned, aged.walBytes].map((bytes) =>
          figure(bytes / 1e6),
        ),
      ]),
    ),
    days: renderDays(oneMachine, manyMachines),
    limits: renderTable(
      ['calls/s', ...days.map(millions)],
      [1, 5, 20, 50, 100, 200].map((limit) => [
        figure(limit),
        ...days.map((bookings) => hours(hoursAtLimit(bookings, limit, 500))),
      ]),
    ),
    processes: renderTable(
      ['sent within', ...days.map(millions)],
      [8, 4, 1].map((within) => [
        hours(within),
        ...days.map((bookings) =>
          bodyLine === undefined
            ? ''
            : figure(processesFor(bookings, within, { ...bodyLine.crew, batchSize: 500 })),
        ),
      ]),
    ),
    push: `With \`Retry-After: ${retryAfterSeconds}\` in 1 % of the responses: ${pushedBack(tried)}`,
    files:
      files === undefined
        ? 'Not measured: there was no sshd.'
        : renderFiles(files.days, files.uploadMbPerSecond),
  };
}

function describeFit({ reviewed, largest }: StraightLines): string {
  const sizes = reviewed.map(({ bookings }) => figure(bookings)).join(', ');
  return `Lines are fitted to days of ${sizes} bookings and checked against one of ${figure(largest.bookings)}.`;
}

function renderLines({ checked }: StraightLines): string {
  return renderTable(
    ['what', 'fixed', 'per million', 'predicted', 'measured', 'deviation'],
    checked.map(({ quantity, line, predicted, measured, deviation }) => [
      quantity,
      figure(line.fixed),
      figure(line.perMillion),
      figure(predicted),
      figure(measured),
      formatShare(deviation),
    ]),
  );
}

/** The lines predict larger days: CPU and bytes, which do not depend on the load of the machine. */
function renderDays(oneMachine: StraightLines, manyMachines: StraightLines): string {
  const rows: readonly (readonly [string, StraightLines, Quantity])[] = [
    ['one machine: CPU of `run`, min', oneMachine, '`run`: CPU, s'],
    ['one machine: ledger, GB', oneMachine, 'ledger, MB'],
    ['many machines: CPU of `run`, min', manyMachines, '`run`: CPU, s'],
    ['many machines: CPU of PostgreSQL, min', manyMachines, 'PostgreSQL: CPU, s'],
    ['many machines: CPU of Redis, min', manyMachines, 'Redis: CPU, s'],
    ['many machines: ledger, GB', manyMachines, 'ledger, MB'],
  ];
  const perBooking = manyMachines.largest.ledgerBytes / manyMachines.largest.bookings;
  const kept = (count: number) => days.map((bookings) => figure(gigabytesKept(perBooking, bookings, count)));
  return renderTable(
    ['what', ...days.map(millions)],
    [
      ...rows.map(([what, { checked }, quantity]) => {
        const found = checked.find((each) => each.quantity === quantity);
        const scaleBy = quantity.endsWith('MB') ? 1_000 : 60;
        return [
          what,
          ...days.map((bookings) => (found ? figure(predict(found.line, bookings) / scaleBy) : '')),
        ];
      }),
      ['ledger of 30 days, GB', ...kept(30)],
      ['ledger of `recordDays` (800), GB', ...kept(800)],
    ],
  );
}

function pushedBack(tried: readonly Tried[]): string {
  const found = tried.find(({ crew }) => (crew.pushBackShare ?? 0) > 0);
  if (!found) return 'not measured.';
  const { crew, measured } = found;
  return `${figure(crew.processes)} processes reached ${figure(measured)} calls/s; any number of processes reaches at most ${figure(1 / ((crew.pushBackShare ?? 1) * retryAfterSeconds))}.`;
}

function renderFiles(measured: readonly FileDay[], uploadMbPerSecond: number): string {
  const bytes = measured.reduce((sum, { fileBytes }) => sum + fileBytes, 0);
  const perBooking = bytes / measured.reduce((sum, { bookings }) => sum + bookings, 0);
  return `${renderTable(
    ['measured', 'CPU, s', 'time without service, s', 'peak, MB', 'file, MB'],
    measured.map((day) => [
      figure(day.bookings),
      figure(day.cpuSeconds),
      figure(day.workSeconds),
      figure(day.peakMb),
      figure(day.fileBytes / 1e6),
    ]),
  )}

${renderTable(
  ['computed', ...days.map(millions)],
  [
    ['file, GB', ...days.map((bookings) => figure((bookings * perBooking) / 1e9))],
    [
      `upload at ${figure(uploadMbPerSecond)} MB/s (measured, no network)`,
      ...days.map((bookings) => hours((bookings * perBooking) / 1e6 / uploadMbPerSecond / 3600)),
    ],
    [
      'upload at 10 MB/s (100 Mbit/s)',
      ...days.map((bookings) => hours((bookings * perBooking) / 1e6 / 10 / 3600)),
    ],
  ],
)}`;
}
