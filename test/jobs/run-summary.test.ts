import { afterEach, describe, expect, it } from 'vitest';
import {
  type ClosingOptions,
  type RunDetails,
  readRunDetails,
  renderClosing,
} from '../../jobs/run-summary.js';
import type { ReasonCount } from '../../src/ledger/rejects.js';
import { createCommandWriter } from '../../src/text/shell.js';
import { someRun } from '../review/some-run.js';
import { fakeLedger } from '../support/fake-ledger.js';
import { command } from '../support/plain-command.js';

const now = Date.parse('2026-11-21T02:32:05Z');
const shown: string[] = [];

function close(details: Partial<RunDetails> = {}, options: Partial<ClosingOptions> = {}): string {
  const text = renderClosing(
    { run: someRun(), rejects: [], warnings: [], placeUnit: 'line', ...details },
    { now, command, ...options },
  );
  shown.push(text);
  return text;
}

describe('the summary of a run', () => {
  afterEach(() => {
    for (const line of shown.splice(0).join('').split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });

  it('of a run that another process may be working on shows its state, not that it was stopped', () => {
    const { finishedAt: _, ...run } = someRun({ state: 'delivering', startedAt: now - 125_000 });
    const lines = close({ run }, { isOnlooker: true }).split('\n');
    expect(lines[0]).toBe('2026-11-20: run 20261120-k3f9xq7d is delivering, started 2 min 5 s ago');
    expect(lines.at(-2)).toBe(
      'To resume it, if no process is working on it: hotel-review run --day 2026-11-20',
    );
  });

  it('names the configuration in the next command, unless it is the default one', () => {
    const options = { command: createCommandWriter('npx --no hotel-review', "it's.yaml") };
    const text = close({ run: someRun({ state: 'delivering' }) }, options);
    expect(text).toContain(
      `To resume it: npx --no hotel-review run --day 2026-11-20 --config 'it'\\''s.yaml'`,
    );
  });

  it('mentions suspects, and how to list them', () => {
    const run = someRun({ suspects: 1_234_567 });
    expect(close({ run })).toContain(`what the local copy of the mappings says:
  suspects: 1,234,567 bookings whose mapping differs or changed recently
  all of them: hotel-review suspects 2026-11-20
`);
    expect(close({ run: someRun({ suspects: 0 }) })).toBe(close());
  });

  it('of a night without problems is a table', () => {
    expect(close()).toBe(
      `2026-11-20: run 20261120-k3f9xq7d succeeded in 12.3 s
  read        1,000
  accepted      990
  duplicates      7
  rejected        3
  delivered     990
  refused         0
  pending         0
  repeated        0
`,
    );
  });

  it('of a run by file that wrote no file says so in its first line', () => {
    const counts = { read: 1_000, accepted: 1_000, duplicates: 0, rejected: 0, delivered: 1_000 };
    const [first, second] = close({
      run: someRun({ delivery: 'file', counts: { ...counts, posted: 1_000, affected: null } }),
    }).split('\n');
    expect(first).toBe('2026-11-20: run 20261120-k3f9xq7d succeeded in 12.3 s, without a review file');
    expect(second).toBe('  no booking can be in the file: all 1,000 went by body, without a result');
    const [usual] = close({ run: someRun({ delivery: 'file', counts: { ...counts, posted: 999 } }) }).split(
      '\n',
    );
    expect(usual).toBe('2026-11-20: run 20261120-k3f9xq7d succeeded in 12.3 s');
  });

  it('of a night by body says that it was sent, and never 0 affected', () => {
    const text = close({ run: someRun({ counts: { affected: null, unanswered: null } }) });
    expect(text).toBe(`2026-11-20: run 20261120-k3f9xq7d succeeded in 12.3 s
  Sent for review. The service reports incorrect mappings by e-mail only.
  Nobody reads these e-mails here: name their mailbox in the setting verdicts.
  read            1,000
  accepted          990
  duplicates          7
  rejected            3
  delivered         990
  refused             0
  pending             0
  repeated            0
  affected    by e-mail
`);
  });

  it('of a night by body says where verdict e-mails are read', () => {
    const run = someRun({ counts: { affected: null, unanswered: null } });
    const text = close({ run }, { mailPlace: 'the mailbox on imap.test' });
    expect(text).toContain('\n  `serve` reads these e-mails from the mailbox on imap.test.\n');
    expect(text).not.toContain('Nobody reads');
  });

  it('shows what was filtered, posted and left without a verdict', () => {
    const counts = { read: 1_005, filtered: 5, posted: 12, unanswered: 3, affected: 2 };
    const text = close({ run: someRun({ delivery: 'file', counts }) });
    for (const line of ['filtered        5', 'posted         12', 'unanswered      3', 'affected        2'])
      expect(text).toContain(`\n  ${line}\n`);
  });

  it('shows no affected bookings, nor 0 of them, where nothing was delivered', () => {
    const counts = { delivered: 0, pending: 990, affected: null, unanswered: null };
    expect(close({ run: someRun({ state: 'failed', counts }) })).not.toContain('affected');
  });

  it('shows the reason of a run', () => {
    expect(close({ run: someRun({ reason: 'the export was cut off' }) }).split('\n')[1]).toBe(
      '  reason: the export was cut off',
    );
  });

  it('lists what was rejected and refused, why and where', () => {
    const counts = { read: 1_234_567, accepted: 1_200_000, duplicates: 567, rejected: 34_000 };
    expect(
      close({
        run: someRun({
          counts: { ...counts, delivered: 1_199_975, refused: 25, repeated: 500, affected: 2 },
        }),
        rejects: [
          { reason: 'service-id-missing', count: 30_000, firstPlace: 12 },
          { reason: 'wrong-cell-count', count: 4_000, firstPlace: 1_234_567 },
        ],
        warnings: [
          { reason: 'unreadable-check-out-date', count: 3, firstPlace: 8 },
          { reason: 'absent-column', count: 1 },
        ],
      }),
    ).toBe(
      `2026-11-20: run 20261120-k3f9xq7d succeeded in 12.3 s
  read        1,234,567
  accepted    1,200,000
  duplicates        567
  rejected       34,000
  delivered   1,199,975
  refused            25
  pending             0
  repeated          500
  affected            2
rejected, by reason:
  service-id-missing  30,000  first at line 12
  wrong-cell-count     4,000  first at line 1,234,567
  list them with: hotel-review rejected 2026-11-20
warnings:
  unreadable-check-out-date  3  first at line 8
  absent-column              1
refused by the service: 25 bookings
  list them with: hotel-review refused 2026-11-20
`,
    );
  });

  it('names the number of records that the hook expected, if the source held a different one', () => {
    const counts = { read: 1_005, filtered: 5 };
    const run = someRun({ counts, collectedAt: 1, expected: 1_012 });
    expect(close({ run })).toContain(
      '\n  the end-of-day hook expected 1,012 records, and the source held 1,000',
    );
    expect(close({ run })).toContain('\nTo send what is missing: hotel-review run --day 2026-11-20\n');
    expect(close({ run: { ...run, expected: 1_000 } })).not.toContain('expected');
  });

  it('of a failed run says why, and what to do', () => {
    const message =
      'the service turned down batch 12 with http-403, which no retry mends: check baseUrl, apiKey and accountId, ' +
      'then run the day again';
    const run = someRun({
      state: 'failed',
      failure: { class: 'fatal', code: 'http-403', message },
      counts: { delivered: 500, pending: 490 },
    });
    expect(close({ run })).toBe(
      `2026-11-20: run 20261120-k3f9xq7d failed (fatal) in 12.3 s
  the service turned down batch 12 with http-403, which no retry mends: check
  baseUrl, apiKey and accountId, then run the day again
  read        1,000
  accepted      990
  duplicates      7
  rejected        3
  delivered     500
  refused         0
  pending       490
  repeated        0
Once the cause is fixed: hotel-review run --day 2026-11-20
(what was delivered is not sent again)
`,
    );
  });

  it('of a stopped run says how to resume it', () => {
    const { finishedAt: _, ...run } = someRun({
      state: 'delivering',
      counts: { delivered: 500, pending: 490 },
    });
    const lines = close({ run }).split('\n');
    expect(lines[0]).toBe('2026-11-20: run 20261120-k3f9xq7d was stopped while delivering after 2 min 5 s');
    expect(lines.at(-2)).toBe('To resume it: hotel-review run --day 2026-11-20');
  });

  it('of an empty day says so', () => {
    const counts = { read: 0, accepted: 0, duplicates: 0, rejected: 0, delivered: 0 };
    expect(
      close({ run: someRun({ counts }) })
        .split('\n')
        .slice(0, 3),
    ).toEqual([
      '2026-11-20: run 20261120-k3f9xq7d succeeded in 12.3 s',
      '  The source has no bookings: nothing was sent.',
      '  read        0',
    ]);
  });

  it.each([
    [
      'awaiting-result',
      'awaits its result after',
      'To check for it again: hotel-review run --day 2026-11-20',
    ],
    ['cancelled', 'was cancelled in', '  repeated        0'],
    ['collecting', 'was stopped while collecting after', 'To resume it: hotel-review run --day 2026-11-20'],
  ] as const)('of a run that is %s', (state, words, last) => {
    const lines = close({ run: someRun({ state }) }).split('\n');
    expect(lines[0]).toBe(`2026-11-20: run 20261120-k3f9xq7d ${words} 12.3 s`);
    expect(lines.at(-2)).toBe(last);
  });

  it('of a file run that awaits its result says what was sent where, between counts and advice', () => {
    const { finishedAt: _, ...run } = someRun({
      delivery: 'file',
      state: 'awaiting-result',
      counts: { affected: null, unanswered: 990 },
      file: { rows: 990, sha256: 'ab', bytes: 9, remotePath: 'VerifyMappings/112026/20112026.csv' },
    });
    const text = close({ run, warnings: [{ reason: 'absent-column', count: 1 }] });
    expect(text.split('\n')[0]).toBe('2026-11-20: run 20261120-k3f9xq7d awaits its result after 2 min 5 s');
    expect(text).toContain(`  repeated            0
  unanswered        990
  affected    no result
  file         VerifyMappings/112026/20112026.csv
  rows         990
  result       not there yet
  archived to  not yet
warnings:
`);
  });
});

describe('the details of a run', () => {
  it('of a run for late bookings say which run it tops up', () => {
    const run = someRun({ topsUp: true });
    expect(close({ run, toppedUp: '20261120-aaaaaaaa' }).split('\n').slice(0, 3)).toEqual([
      '2026-11-20: run 20261120-k3f9xq7d succeeded in 12.3 s',
      '  late bookings: it tops up run 20261120-aaaaaaaa',
      '  read        1,000',
    ]);
  });

  it('of a run for late bookings that found none say so', () => {
    const run = someRun({
      topsUp: true,
      counts: { read: 1_000, accepted: 0, duplicates: 1_000, rejected: 0, delivered: 0 },
    });
    expect(close({ run, toppedUp: '20261120-aaaaaaaa' }).split('\n').slice(0, 3)).toEqual([
      '2026-11-20: run 20261120-k3f9xq7d succeeded in 12.3 s',
      '  Nothing new since run 20261120-aaaaaaaa: nothing was sent.',
      '  read        1,000',
    ]);
  });

  it('of a run for late bookings that failed say both', () => {
    const failure = { class: 'data', code: 'empty', message: 'the source is broken' } as const;
    const text = close({ run: someRun({ topsUp: true, state: 'failed', failure }), toppedUp: 'r1' });
    expect(text).toContain('  late bookings: it tops up run r1\n  the source is broken\n');
  });

  it('of a run for late bookings include the run before it', async () => {
    const runs = ['later', 'late', 'first', 'older'].map((id) => someRun({ id, topsUp: true }));
    const nothing = async () => [];
    const ledger = fakeLedger({
      rejects: { count: nothing, countWarnings: nothing },
      canaries: { find: async () => undefined },
      runs: { list: async () => runs },
    });
    expect((await readRunDetails(ledger, someRun({ id: 'late', topsUp: true }), 'line')).toppedUp).toBe(
      'first',
    );
  });

  it('are read from the ledger', async () => {
    const run = someRun();
    const rejects: ReasonCount[] = [{ reason: 'record-too-long', count: 1 }];
    const warnings: ReasonCount[] = [{ reason: 'absent-column', count: 1 }];
    const asked: unknown[] = [];
    const answer =
      <Answer>(it: Answer) =>
      async (...question: unknown[]) => {
        asked.push(question);
        return it;
      };
    const ledger = fakeLedger({
      rejects: { count: answer(rejects), countWarnings: answer(warnings) },
      canaries: { find: async () => undefined },
      runs: { list: answer([]) },
    });
    expect(await readRunDetails(ledger, run, 'line')).toEqual({
      run,
      rejects,
      warnings,
      placeUnit: 'line',
    });
    expect(asked).toEqual([[run.id], [run.id]]);
  });
});
