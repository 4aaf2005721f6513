import { describe, expect, it } from 'vitest';
import { renderFile } from '../../jobs/run-summary.js';
import type { ReviewFile } from '../../src/ledger/findings.js';
import { someRun } from '../review/some-run.js';
import { command } from '../support/plain-command.js';

const remotePath = 'VerifyMappings/112026/20112026.csv';
const result = {
  name: '20112026_Result.csv',
  size: 5_000,
  modifiedAt: 0,
  sha256: 'cd',
  rows: 12_000,
  isWhole: true,
};
const verdicts = { affected: 0, unanswered: 0, unclear: 0, malformed: 0 };
const archivedTo = '/data/archive/2026-11-20/20261120-k3f9xq7d';
const whole: Partial<ReviewFile> = { rows: 12_345, remotePath, result, verdicts, archivedTo };

describe('the summary of a file', () => {
  it('is empty without a file, or before it was written', () => {
    expect(renderFile(someRun(), command)).toEqual([]);
    expect(renderFile(someRun({ file: { triggeredAt: 7 } }), command)).toEqual([]);
  });

  it('says what has not arrived yet', () => {
    expect(summarise({ rows: 12_345 })).toEqual([
      ['file', 'not uploaded yet'],
      ['rows', '12,345'],
      ['result', 'not there yet'],
      ['archived to', 'not yet'],
    ]);
  });

  it('shows where file, result and evidence are, and that nothing is affected', () => {
    expect(summarise(whole)).toEqual([
      ['file', remotePath],
      ['rows', '12,345'],
      ['result', '20112026_Result.csv'],
      ['archived to', archivedTo],
      ['The result marks no booking as affected.'],
    ]);
  });

  it('shows how many bookings are affected, and how to list them', () => {
    expect(summarise({ ...whole, verdicts: { ...verdicts, affected: 1_234 } }).slice(-2)).toEqual([
      ['affected bookings: 1,234; to list them:'],
      ['hotel-review affected 2026-11-20'],
    ]);
  });

  it.each<[Partial<ReviewFile>, string]>([
    [{ verdicts: { ...verdicts, unanswered: 1_001 } }, 'bookings missing from the result: 1,001'],
    [
      { verdicts: { ...verdicts, unclear: 1_002 } },
      'bookings that the result names without a readable verdict: 1,002',
    ],
    [{ verdicts: { ...verdicts, malformed: 1_003 } }, 'unreadable result rows: 1,003'],
  ])('warns of each oddity of the result alone (%#)', (odd, words) => {
    const lines = renderFile(someRun({ file: { ...whole, ...odd } }), command);
    expect(lines[1]).toBe(`  warning: ${words}`);
    const unlisted = odd.verdicts?.malformed
      ? []
      : ['  to list the bookings without a verdict:', '  hotel-review affected 2026-11-20 --unanswered'];
    expect(lines.slice(2)).toEqual(unlisted);
  });

  it('explains why the file has fewer rows than bookings were delivered', () => {
    const run = someRun({ delivery: 'file', file: whole, counts: { delivered: 12_695, posted: 350 } });
    const lines = renderFile(run, command).slice(1);
    expect(lines.join(' ').replaceAll(/\s+/g, ' ')).toContain(
      "350 more bookings went by body, because the file's rules leave no room for a missing field or a value that " +
        'reads as null; those verdicts come by e-mail only. to list them: hotel-review posted 2026-11-20 Nobody reads these e-mails here: name their mailbox in the setting verdicts.',
    );
    const read = renderFile(run, command, 'the mailbox on imap.test').join(' ');
    expect(read.replaceAll(/\s+/g, ' ')).toContain(
      'posted 2026-11-20 `serve` reads these e-mails from the mailbox on imap.test.',
    );
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  });

  it('warns of a result that was accepted although incomplete, within 80 columns', () => {
    const lines = renderFile(someRun({ file: { ...whole, result: { ...result, isWhole: false } } }), command);
    expect(lines.slice(1, 3)).toEqual([
      '  warning: the result was accepted although incomplete: 12,000 records for',
      '  12,345 sent',
    ]);
  });

  it('names all files of a result, and counts their records together', () => {
    const others = [{ ...result, name: '20112026_1_Result.csv', rows: 300 }];
    const file = { ...whole, result: { ...result, isWhole: false, others } };
    expect(summarise(file)[2]).toEqual(['result', '20112026_Result.csv, 20112026_1_Result.csv']);
    expect(renderFile(someRun({ file }), command)[1]).toContain('incomplete: 12,300 records for');
  });

  it('names a result that is not accepted yet', () => {
    const { result: _, archivedTo: __, ...waiting } = whole;
    const growing = { files: [result], since: 0 };
    expect(summarise({ ...waiting, growing })[2]).toEqual([
      'result',
      '20112026_Result.csv, not accepted yet',
    ]);
  });

  it('warns of rows that were ignored, and of results that were set aside', () => {
    const archivedAs = 'foreign-0123456789ab-20112026_Result.csv';
    const setAside = [{ name: result.name, archivedAs, foreign: 1_234, ours: 2 }];
    const file = { ...whole, setAside, verdicts: { ...verdicts, ignored: 3 } };
    const words = renderFile(someRun({ file }), command).join(' ').replace(/\s+/g, ' ');
    expect(words).toContain('warning: result rows that name no booking of the file, such as totals: 3');
    expect(words).toContain(
      `warning: the result ${result.name} was set aside: 1,234 rows about other bookings, 2 about ours; it is archived as ${archivedAs}`,
    );
    expect(words).toContain('The result marks no booking as affected.');
  });

  it('warns of a result that was archived without being judged', () => {
    const laterResults = ['later-0123456789ab-20112026_Result.csv'];
    const lines = renderFile(someRun({ file: { ...whole, laterResults } }), command);
    expect(lines.join(' ').replace(/\s+/g, ' ')).toContain(
      'warning: after its result was judged, the server held another one, which is archived but was not judged: later-0123456789ab-20112026_Result.csv',
    );
  });

  it('warns of all oddities together', () => {
    const odd = { affected: 1, unanswered: 1, unclear: 1, malformed: 1 };
    const lines = renderFile(
      someRun({ file: { ...whole, result: { ...result, isWhole: false }, verdicts: odd } }),
      command,
    );
    expect(lines.filter((line) => line.startsWith('  warning: '))).toHaveLength(4);
  });
});

/** The cells of each line. */
function summarise(file: Partial<ReviewFile>): string[][] {
  const lines = renderFile(someRun({ file }), command).flatMap((text) => text.split('\n'));
  for (const line of lines) expect(line).toMatch(/^ {2}\S/);
  return lines.map((line) => line.trim().split(/ {2,}/));
}
