import { describeWatch } from '../../jobs/commands/mappings.js';
import {
  outcomeOfFailure,
  outcomeOfLeft,
  outcomeOfRun,
  renderNotStarted,
  renderPlans,
  renderRange,
} from '../../jobs/commands/replay.js';
import { renderDays, type StatusDay } from '../../jobs/commands/status.js';
import { type ExitCode, exitCodeOf, worstOf } from '../../jobs/exit-code.js';
import { describeFailure } from '../../jobs/failure.js';
import { type ClosingOptions, type RunDetails, renderClosing } from '../../jobs/run-summary.js';
import { noColours } from '../../src/base/colours.js';
import { StoppedError, UsageError } from '../../src/base/safe-error.js';
import { createCommandWriter } from '../../src/base/shell.js';
import { SourceError } from '../../src/booking/source.js';
import type { WatchReport } from '../../src/cases/follow-mappings.js';
import { ConfigurationError } from '../../src/config/problems.js';
import { DatabaseBusyError, FencedError, LedgerUnusableError } from '../../src/ledger/errors.js';
import { ArchiveAwayError } from '../../src/review/archive-fit.js';
import { DayBusyError } from '../../src/review/day/join-run.js';
import type { PlannedDay } from '../../src/review/day/range-plan.js';
import { runToJson } from '../../src/review/day/report.js';
import { groupByDay, type Run } from '../../src/rules/run.js';
import { SftpError } from '../../src/transports/sftp/sftp.js';
import { someRun } from '../review/some-run.js';
import { command } from '../support/plain-command.js';

/** What the texts of runs say that the recorded month does not have. Each is rendered by the function that the commands call. */
export function listTexts(): ReadonlyMap<string, string> {
  const closings = Object.entries(closed).map(([what, [given, details, options]]) => {
    const run = someRun(given);
    const known = { rejects: [], warnings: [], ...details };
    const text = renderClosing(run, known, { ...style, now, placeUnit: 'line', mailbox: null, ...options });
    return [what, `${text}--- exit code ${exitCodeOf(run)}`];
  });
  const statuses = Object.entries(listed).map(([what, days]) => [what, renderDays(days, style).join('\n')]);
  return new Map([
    ['closings', join(closings)],
    ['status', join(statuses)],
    ['ranges', join(Object.entries(listRangeTexts()))],
    ['moves', describeWatch(watched, command).join('\n')],
    ['failures', failures.map((error) => JSON.stringify(describeFailure(error))).join('\n')],
  ]);
}

const join = (texts: readonly (readonly string[])[]) =>
  texts.map(([what, text]) => `=== ${what}\n${text?.trimEnd()}\n`).join('\n');

const timezone = 'Europe/Madrid';
const now = Date.parse('2026-11-21T02:32:05Z');
const elsewhere = createCommandWriter('npx --no hotel-review', "it's.yaml");

type Overrides = NonNullable<Parameters<typeof someRun>[0]>;
type Closing = readonly [Overrides, Partial<RunDetails>?, Partial<ClosingOptions>?];

const failure = {
  class: 'fatal',
  code: 'http-403',
  message:
    'the service turned down batch 12 with http-403, which no retry mends: check baseUrl, apiKey and accountId, then run the day again',
} as const;
const drop = { provider: null, accepted: 990, usual: 5_000 };
const volume = { accepted: 990, usual: 5_000, drops: [drop] };
const waiting = { step: 'batch 3', until: '2026-11-21T02:31:30.000Z', code: 'http-503' };
const delivering = { state: 'delivering', finishedAt: undefined } as unknown as Overrides;
const byEmail = { affected: null, unanswered: null };

const result = {
  ...{ name: '20112026_Result.csv', size: 5_000, modifiedAt: 0 },
  ...{ sha256: 'cd', rows: 12_000, isWhole: true },
};
const verdicts = { affected: 0, unanswered: 0, unclear: 0, malformed: 0 };
const written = { rows: 12_345, remotePath: 'VerifyMappings/112026/20112026.csv' };
const whole = { ...written, result, verdicts, archivedTo: '/data/archive/2026-11-20/20261120-k3f9xq7d' };
const byFile = (file: Overrides['file'], run: Overrides = {}): Closing => [
  { delivery: 'file', ...run, ...(file && { file }) },
];

/** The end of a run, by what became of it. */
const closed: Readonly<Record<string, Closing>> = {
  'by body': [{ counts: byEmail }],
  'by body, with a mailbox': [{ counts: byEmail }, {}, { mailbox: 'the mailbox on imap.test' }],
  'an empty day': [{ counts: { read: 0, accepted: 0, duplicates: 0, rejected: 0, delivered: 0 } }],
  'rejected and refused': [
    { counts: { read: 1_234_567, accepted: 1_200_000, rejected: 34_000, refused: 25, repeated: 500 } },
    {
      rejects: [
        { reason: 'service-id-missing', count: 30_000, firstPlace: 12 },
        { reason: 'wrong-cell-count', count: 4_000, firstPlace: 1_234_567 },
      ],
      warnings: [
        { reason: 'unreadable-check-out-date', count: 3, firstPlace: 8 },
        { reason: 'absent-column', count: 1 },
      ],
    },
  ],
  'filtered, posted and unanswered': byFile(undefined, {
    counts: { read: 1_005, filtered: 5, posted: 12, unanswered: 3, affected: 2 },
  }),
  'suspects, and a reason': [{ suspects: 1_234_567, reason: 'the export was cut off' }],
  'a number that the hook did not expect': [{ counts: { read: 1_005, filtered: 5 }, expected: 1_012 }],
  failed: [{ state: 'failed', failure, counts: { delivered: 500, pending: 490 } }],
  'failed before anything was sent': [
    { state: 'failed', failure, counts: { delivered: 0, pending: 990, ...byEmail } },
  ],
  stopped: [delivering],
  'stopped while it waited': [delivering, { waiting }],
  'stopped while collecting': [{ ...delivering, state: 'collecting' }, {}, { command: elsewhere }],
  'perhaps at work elsewhere': [delivering, {}, { isOnlooker: true }],
  'cancelled, with a reason': [{ state: 'cancelled', cancelReason: 'sent by hand' }],
  'late bookings': [{ topsUp: true }],
  'late bookings, but none': [{ topsUp: true, counts: { accepted: 0, duplicates: 997, delivered: 0 } }],
  'late bookings, failed': [{ topsUp: true, state: 'failed', failure }],
  'far fewer bookings than usual': [{ volume }],
  'accepted, though far fewer': [{ volume, acceptances: { volume: { at: now, by: 'ada' } } }],
  'fewer than the hook expected, too': [{ volume, expected: 1_012 }],
  'awaited, with far fewer': [{ volume, state: 'awaiting-result' }],
  'one provider has far fewer': [{ volume: { ...volume, drops: [{ ...drop, provider: 'Bedlink' }] } }],
  'more affected than were accepted': [
    {
      implausible: { affected: 30, judged: 200 },
      acceptances: { affected: { at: now, by: 'ada', affected: 29 } },
    },
  ],
  'implausibly many affected': [{ implausible: { affected: 30, judged: 200 } }],
  'before its day was over': [{ collectStartedAt: Date.parse('2026-11-20T22:59:59Z') }],
  'by file, all posted': byFile(undefined, { counts: { posted: 990, ...byEmail } }),
  'by file, not uploaded': byFile({ rows: 12_345 }, delivering),
  'by file, awaited': byFile(written, {
    ...delivering,
    state: 'awaiting-result',
    counts: { affected: null, unanswered: 990 },
  }),
  'by file, with a growing result': byFile(
    { ...written, growing: { files: [result], since: 0 } },
    { ...delivering, state: 'awaiting-result' },
  ),
  'by file, whole': byFile(whole, { counts: { posted: 350 } }),
  'by file, affected': byFile({ ...whole, verdicts: { ...verdicts, affected: 1_234 } }),
  'by file, in two results': byFile({
    ...whole,
    result: { ...result, isWhole: false, others: [{ ...result, name: '20112026_1_Result.csv', rows: 300 }] },
  }),
  'by file, with every oddity': byFile({
    ...whole,
    verdicts: { affected: 1, unanswered: 1_001, unclear: 1_002, malformed: 1_003, ignored: 3 },
    laterResults: ['later-0123456789ab-20112026_Result.csv'],
    setAside: [{ name: result.name, archivedAs: 'foreign-20112026_Result.csv', foreign: 1_234, ours: 2 }],
  }),
};

const moved = { providerName: 'Bedlink', providerHotelId: 'BL-1', serviceId: 17, bookings: 1 };
const watched = {
  counts: { checkedMoves: 4, endangered: 2, unmapped: 1, bookings: 3, merged: 1, dismissed: 1 },
  findings: [
    { ...moved, copyServiceId: 5, move: 're-pointed', caseId: 3 },
    { ...moved, copyServiceId: undefined, move: 'unmapped', bookings: 2 },
    { ...moved, copyServiceId: 18, move: 'merged' },
  ],
} as unknown as WatchReport;

const failures: readonly Error[] = [
  new UsageError('--out requires --dry-run'),
  new ConfigurationError('my.yaml', [{ path: 'source', message: 'is missing' }]),
  new LedgerUnusableError('/data/ledger.db', 'expected a file, got: a folder'),
  new DayBusyError('that day is being run'),
  new FencedError('run-a'),
  new StoppedError('SIGTERM'),
  new DatabaseBusyError('ledger.db is locked'),
  new SftpError('denied', 'denied', 'upload x: denied'),
  new SourceError('missing', 'there is no file x.csv'),
  new ArchiveAwayError('the archive does not say which ledger it knows', {}),
];

const style = { command, paint: noColours, timezone, waits: new Map([['waiting', { waiting }]]) };
const ofDays = (...runs: Run[]): StatusDay[] =>
  [...groupByDay(runs)].map(([day, all]) => ({ day, runs: all }));
const gap = (first: number, days: number): StatusDay[] =>
  Array.from({ length: days }, (_, index) => ({
    day: new Date(Date.UTC(2026, 10, first - index)).toISOString().slice(0, 10),
    runs: [],
  }));
const most = { delivered: 9_999_999, pending: 9_999_999, affected: null, unanswered: 9_999_999, posted: 1 };
const early = someRun({ collectStartedAt: Date.parse('2026-11-20T22:59:59Z') });

/** What `status` lists. */
const listed: Readonly<Record<string, readonly StatusDay[]>> = {
  'what is unknown': ofDays(
    someRun({
      state: 'awaiting-result',
      delivery: 'file',
      counts: { ...byEmail, unanswered: 1_234_000, posted: 567 },
    }),
    someRun({ day: '2026-11-19', counts: byEmail }),
    someRun({ day: '2026-11-18', delivery: 'file', volume, counts: { affected: 1_234 } }),
    someRun({ day: '2026-11-17', state: 'failed', reason: 'cut off', counts: { refused: 1, ...byEmail } }),
    someRun({ day: '2026-11-16', state: 'failed', counts: { accepted: 0, delivered: 0, affected: null } }),
    someRun({ day: '2026-11-15', id: 'waiting', state: 'delivering' }),
    someRun({ day: '2026-11-14', expected: 1_012 }),
    someRun({ day: '2026-11-13', implausible: { affected: 30, judged: 200 } }),
  ),
  'a day that is good now': ofDays(someRun({ topsUp: true, id: 'late' }), someRun({ volume })),
  'the widest run': ofDays(
    someRun({
      state: 'awaiting-result',
      delivery: 'file',
      topsUp: true,
      reason: 'again '.repeat(40),
      counts: most,
    }),
  ),
  'late bookings, and runs of today': ofDays(
    someRun({ topsUp: true, counts: { delivered: 3 } }),
    someRun({ trigger: 'today', topsUp: true }),
    someRun(),
  ),
  'days without a run': [...gap(22, 2), ...ofDays(someRun()), ...gap(19, 32)],
  'before its day was over': ofDays(someRun({ state: 'failed' }), early),
  'before its day was over, and once more after it': ofDays(someRun({ topsUp: true, id: 'late' }), early),
};

const worst: readonly (readonly ExitCode[])[] = [[], [0, 0], [0, 5], [3, 5], [0, 3, 4], [4, 1, 3], [1, 2, 5]];

function listRangeTexts(): Readonly<Record<string, string>> {
  const reviewed = (run: Overrides, code: ExitCode, more: object = {}) => {
    const json = runToJson(someRun(run), { now, timezone });
    return outcomeOfRun(someRun(run), { ...json, ...more }, { code, timezone, command });
  };
  const outcomes = [
    reviewed({ day: '2026-11-13', topsUp: true, counts: { accepted: 0, delivered: 0 } }, 0),
    reviewed({ day: '2026-11-14', volume }, 5),
    reviewed({ day: '2026-11-15', ...delivering }, 1, { waiting }),
    reviewed({ day: '2026-11-16', state: 'collecting' }, 1),
    reviewed({ day: '2026-11-17', counts: { delivered: 1_234_567 } }, 0),
    reviewed({ day: '2026-11-18', state: 'failed', failure }, 1),
    reviewed({ day: '2026-11-19', topsUp: true, state: 'awaiting-result' }, 3),
    outcomeOfLeft('2026-11-20', 'has a run', '20261120-k3f9xq7d'),
    outcomeOfLeft('2026-11-21', 'has no run'),
    ...(['busy', 'usage', 'configuration', 'internal', 'stopped'] as const).map((kind, index) =>
      outcomeOfFailure(`2026-11-2${index + 2}`, { exitCode: 1, class: kind, message: `it is ${kind}` }),
    ),
  ];
  const run = someRun();
  const failed = someRun({ state: 'failed' });
  const planned: readonly PlannedDay[] = [
    { day: '2026-11-15', plan: { action: 'new-run' } },
    { day: '2026-11-16', plan: { action: 'new-run', replaces: run.id } },
    { day: '2026-11-17', plan: { action: 'resume', run: failed } },
    { day: '2026-11-18', plan: { action: 'top-up', run } },
    { day: '2026-11-19', plan: { action: 'nothing', why: 'has a run', run: failed } },
    { day: '2026-11-20', plan: { action: 'nothing', why: 'has no run' } },
    { day: '2026-11-21', plan: { action: 'refused', message: 'run it first', run: failed } },
  ];
  const end = { why: 'it was stopped', next: '2026-11-04', to: '2026-11-20' };
  const options = { mode: 'all', reason: "the hotel's export came late", delivery: 'file' } as const;
  const noOptions = { mode: undefined, reason: undefined, delivery: undefined };
  return {
    'the end': renderRange(outcomes),
    'each day': outcomes
      .map(({ json, words, code, endsRange }) =>
        [
          `${code}${endsRange ? ', and ends the range' : ''}: ${words}`,
          ...('runId' in json && 'counts' in json ? [] : [JSON.stringify(json)]),
        ].join('\n'),
      )
      .join('\n'),
    'the worst of the days': worst.map((codes) => `${codes.join(', ')}: ${worstOf(codes)}`).join('\n'),
    'the plan': renderPlans(planned),
    'not started': renderNotStarted(noOptions, end, command),
    'one day not started, with options': renderNotStarted(options, { ...end, next: end.to }, elsewhere),
  };
}
