import type { Tried } from './crews.js';
import type { FileDay } from './files.js';
import type { LedgerPace } from './ledger-calls.js';
import { gigabytesKept, hoursAtLimit, predict, processesFor } from './model.js';
import { formatFigure as figure, formatShare, renderTable } from './page.js';
import { retryAfterSeconds } from './service.js';
import type { Quantity, StraightLines } from './straight-line.js';
import type { Waiting } from './waiting.js';

/** All that the simulation has found out. */
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

/** What stands between the markers of docs/scale.md, by their names. */
export function renderFigures(found: Found): Readonly<Record<string, string>> {
  const { oneMachine, manyMachines, tried, paces, waiting, files } = found;
  const bodyLine = tried[0];
  return {
    machine: found.machine,
    'one-machine': renderLines(oneMachine),
    'many-machines': renderLines(manyMachines),
    crews: renderTable(
      ['what', 'calls a second by the rule', 'measured', 'apart by'],
      tried.map(({ name, predicted, measured, deviation }, index) => [
        name,
        index === 0 ? 'sets the rule' : figure(predicted),
        figure(measured),
        index === 0 ? '' : formatShare(deviation),
      ]),
    ),
    ledger: renderTable(
      [
        'ledger',
        'runs',
        'at once',
        'steps a second',
        'claim p50, ms',
        'claim p99, ms',
        'record p50, ms',
        'record p99, ms',
      ],
      paces.map(({ ledger, pace }) => [
        ledger,
        ...[pace.runs, pace.concurrency, pace.stepsPerSecond].map(figure),
        ...[pace.claimP50Ms, pace.claimP99Ms, pace.recordP50Ms, pace.recordP99Ms].map(figure),
      ]),
    ),
    waiting: renderTable(
      [
        'steps that wait',
        'processes',
        'Redis, % of a core',
        'PostgreSQL, % of a core',
        'each process, % of a core',
        'bytes of Redis a step',
      ],
      waiting.map((each) => [
        figure(each.steps),
        figure(each.processes),
        ...[each.redis, each.postgres, each.process].map((share) => figure(100 * share)),
        figure(each.redisBytesPerStep),
      ]),
    ),
    connections: renderTable(
      ['what', 'processes', 'concurrency', 'connections to PostgreSQL, at most', 'to Redis'],
      tried.map(({ name, crew, reviewed }) => [
        name,
        figure(crew.processes),
        figure(crew.concurrency),
        figure(reviewed.connections),
        figure(reviewed.redisClients),
      ]),
    ),
    age: renderTable(
      [
        'ledger',
        'bookings',
        'show one, ms',
        'blank names, s a million',
        'remove, s a million',
        'MB as sent',
        'blanked',
        'removed',
        'written ahead, MB',
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
      ['calls a second', ...days.map(millions)],
      [1, 5, 20, 50, 100, 200].map((limit) => [
        figure(limit),
        ...days.map((bookings) => hours(hoursAtLimit(bookings, limit, 500))),
      ]),
    ),
    processes: renderTable(
      ['to be sent within', ...days.map(millions)],
      [8, 4, 1].map((within) => [
        hours(within),
        ...days.map((bookings) =>
          bodyLine === undefined
            ? ''
            : figure(processesFor(bookings, within, { ...bodyLine.crew, batchSize: 500 })),
        ),
      ]),
    ),
    push: `An answer of 429 or 503 with \`Retry-After: ${retryAfterSeconds}\` to one call of a hundred, whatever the pace: ${pushedBack(tried)}`,
    files:
      files === undefined
        ? 'Not tried: there was no sshd.'
        : renderFiles(files.days, files.uploadMbPerSecond),
  };
}

function renderLines({ reviewed, checked, largest }: StraightLines): string {
  const sizes = reviewed.map(({ bookings }) => figure(bookings)).join(', ');
  return `Lines through days of ${sizes} bookings; held against one of ${figure(largest.bookings)}.

${renderTable(
  ['what', 'to begin with', 'for each million', 'foretold', 'measured', 'apart by'],
  checked.map(({ quantity, line, predicted, measured, deviation }) => [
    quantity,
    figure(line.fixed),
    figure(line.perMillion),
    figure(predicted),
    figure(measured),
    formatShare(deviation),
  ]),
)}`;
}

/** The lines foretell the days that nobody tried: processor time and bytes, which don't depend on who else was at work. */
function renderDays(oneMachine: StraightLines, manyMachines: StraightLines): string {
  const rows: readonly (readonly [string, StraightLines, Quantity])[] = [
    ['one machine: processor time of `run`, min', oneMachine, 'processor time of `run`, s'],
    ['one machine: ledger, GB', oneMachine, 'ledger, MB'],
    ['many machines: processor time of `run`, min', manyMachines, 'processor time of `run`, s'],
    ['many machines: processor time of PostgreSQL, min', manyMachines, 'processor time of PostgreSQL, s'],
    ['many machines: processor time of Redis, min', manyMachines, 'processor time of Redis, s'],
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
      ['many machines: ledger of 30 days, GB', ...kept(30)],
      ['many machines: ledger of `recordDays` (800), GB', ...kept(800)],
    ],
  );
}

function pushedBack(tried: readonly Tried[]): string {
  const found = tried.find(({ crew }) => (crew.pushBackShare ?? 0) > 0);
  if (!found) return 'not tried.';
  const { crew, measured } = found;
  return `${figure(crew.processes)} processes came to ${figure(measured)} calls a second, where any number of them comes to at most ${figure(1 / ((crew.pushBackShare ?? 1) * retryAfterSeconds))} by the rule.`;
}

function renderFiles(measured: readonly FileDay[], uploadMbPerSecond: number): string {
  const bytes = measured.reduce((sum, { fileBytes }) => sum + fileBytes, 0);
  const perBooking = bytes / measured.reduce((sum, { bookings }) => sum + bookings, 0);
  return `${renderTable(
    [
      'a day by file, measured',
      'processor time, s',
      'time without the service, s',
      'peak memory, MB',
      'file, MB',
    ],
    measured.map((day) => [
      figure(day.bookings),
      figure(day.cpuSeconds),
      figure(day.workSeconds),
      figure(day.peakMb),
      figure(day.fileBytes / 1e6),
    ]),
  )}

${renderTable(
  ['computed from it', ...days.map(millions)],
  [
    ['file, GB', ...days.map((bookings) => figure((bookings * perBooking) / 1e9))],
    [
      `upload at ${figure(uploadMbPerSecond)} MB/s, as measured without a network`,
      ...days.map((bookings) => hours((bookings * perBooking) / 1e6 / uploadMbPerSecond / 3600)),
    ],
    [
      'upload at 10 MB/s (100 Mbit/s)',
      ...days.map((bookings) => hours((bookings * perBooking) / 1e6 / 10 / 3600)),
    ],
  ],
)}`;
}
