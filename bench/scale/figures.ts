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
const minutes = (value: number) => figure(60 * value);
const figures = (values: readonly number[]) => values.map(figure).join('/');

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
        'calls/s, predicted/measured',
        'deviation',
        'connections, PostgreSQL/Redis',
      ],
      tried.map(({ name, crew, predicted, measured, deviation, reviewed }, index) => [
        name,
        figure(crew.processes),
        figure(crew.concurrency),
        index === 0 ? `–/${figure(measured)}` : figures([predicted, measured]),
        index === 0 ? '' : formatShare(deviation),
        figures([reviewed.connections, reviewed.redisClients]),
      ]),
    ),
    ledger: renderTable(
      ['ledger', 'runs', 'concurrent', 'steps/s', 'claim p50/p99, ms', 'record p50/p99, ms'],
      paces.map(({ ledger, pace }) => [
        ledger,
        ...[pace.runs, pace.concurrency, pace.stepsPerSecond].map(figure),
        figures([pace.claimP50Ms, pace.claimP99Ms]),
        figures([pace.recordP50Ms, pace.recordP99Ms]),
      ]),
    ),
    waiting: renderTable(
      ['waiting steps', 'processes', '% of a core, Redis/PostgreSQL/process', 'Redis bytes/step'],
      waiting.map((each) => [
        figure(each.steps),
        figure(each.processes),
        figures([each.redis, each.postgres, each.process].map((share) => 100 * share)),
        figure(each.redisBytesPerStep),
      ]),
    ),
    age: renderTable(
      [
        'ledger',
        'bookings',
        'show, ms',
        'blank names/remove, s per million',
        'MB as sent/blanked/removed',
        'WAL, MB',
      ],
      [oneMachine, manyMachines].map(({ engine, aged }) => [
        engine === 'one machine' ? 'SQLite' : 'PostgreSQL',
        figure(aged.bookings),
        figure(aged.showMs),
        figures([aged.blankSeconds, aged.pruneSeconds].map((seconds) => (1e6 * seconds) / aged.bookings)),
        figures([aged.bytes.asSent, aged.bytes.blanked, aged.bytes.pruned].map((bytes) => bytes / 1e6)),
        figure(aged.walBytes / 1e6),
      ]),
    ),
    days: renderDays(oneMachine, manyMachines),
    limits: renderTable(
      ['minutes at', ...days.map(millions)],
      [1, 5, 20, 50, 100, 200].map((limit) => [
        `${figure(limit)} calls/s`,
        ...days.map((bookings) => figure(60 * hoursAtLimit(bookings, limit, 500))),
      ]),
    ),
    processes: bodyLine === undefined ? 'Not measured.' : renderProcesses(bodyLine),
    push: `With \`Retry-After: ${retryAfterSeconds}\` in 1% of the responses: ${pushedBack(tried)}`,
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
    ['what', 'fixed', 'per million', 'predicted/measured', 'deviation'],
    checked.map(({ quantity, line, predicted, measured, deviation }) => [
      quantity,
      figure(line.fixed),
      figure(line.perMillion),
      figures([predicted, measured]),
      formatShare(deviation),
    ]),
  );
}

/** The lines predict larger days: CPU and bytes, which do not depend on the load of the machine. */
function renderDays(oneMachine: StraightLines, manyMachines: StraightLines): string {
  const rows: readonly (readonly [string, StraightLines, Quantity])[] = [
    ['SQLite: `run`, CPU min', oneMachine, '`run`: CPU, s'],
    ['SQLite: ledger, GB', oneMachine, 'ledger, MB'],
    ['PostgreSQL, Redis: `run`, CPU min', manyMachines, '`run`: CPU, s'],
    ['PostgreSQL: CPU min', manyMachines, 'PostgreSQL: CPU, s'],
    ['Redis: CPU min', manyMachines, 'Redis: CPU, s'],
    ['PostgreSQL: ledger, GB', manyMachines, 'ledger, MB'],
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
      ['30 days, GB', ...kept(30)],
      ['800 days (`recordDays`), GB', ...kept(800)],
    ],
  );
}

function renderProcesses({ crew }: Tried): string {
  const within = (limitHours: number) =>
    days.map((bookings) => figure(processesFor(bookings, limitHours, { ...crew, batchSize: 500 }))).join('/');
  return `To send ${days.map((bookings) => figure(bookings / 1e6)).join('/')} million within 8 h takes ${within(8)} processes; within 4 h ${within(4)}; within 1 h ${within(1)}.`;
}

function pushedBack(tried: readonly Tried[]): string {
  const found = tried.find(({ crew }) => (crew.pushBackShare ?? 0) > 0);
  if (!found) return 'not measured.';
  const { crew, measured } = found;
  return `${figure(crew.processes)} processes reached ${figure(measured)} calls/s; no number of processes exceeds ${figure(1 / ((crew.pushBackShare ?? 1) * retryAfterSeconds))}.`;
}

function renderFiles(measured: readonly FileDay[], uploadMbPerSecond: number): string {
  const bytes = measured.reduce((sum, { fileBytes }) => sum + fileBytes, 0);
  const perBooking = bytes / measured.reduce((sum, { bookings }) => sum + bookings, 0);
  return `${renderTable(
    ['measured', 'CPU, s', 'time, s', 'peak, MB', 'file, MB'],
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
      `upload, min, at ${figure(uploadMbPerSecond)} MB/s (no network)`,
      ...days.map((bookings) => minutes((bookings * perBooking) / 1e6 / uploadMbPerSecond / 3600)),
    ],
    [
      'upload, min, at 10 MB/s (100 Mbit/s)',
      ...days.map((bookings) => minutes((bookings * perBooking) / 1e6 / 10 / 3600)),
    ],
  ],
)}`;
}
