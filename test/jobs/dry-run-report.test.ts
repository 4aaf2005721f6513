import { describe, expect, it } from 'vitest';
import { type DryRunReport, renderDryRun } from '../../jobs/dry-run.js';
import { someRun } from '../review/some-run.js';

const report: DryRunReport = {
  day: '2026-11-20',
  source: '/exports/bookings.csv',
  counts: someRun().counts,
  rejects: [{ reason: 'service-id-missing', count: 3, firstPlace: 12 }],
  warnings: [{ reason: 'absent-column', count: 1 }],
};
const summary = `2026-11-20: dry run; nothing was sent
source: /exports/bookings.csv
  read        1,000
  accepted      990
  duplicates      7
  rejected        3
rejected, by reason:
  service-id-missing  3  first at line 12
warnings:
  absent-column  1
`;

describe('the report of a dry run', () => {
  it('shows what would be sent', () => {
    const sample = [{ ServiceId: 7, BookingClientName: '***' }, { ServiceId: 8 }];
    const collected = { ...report, batches: 2, bytes: 123_456, sha256: 'ab'.repeat(32), sample };
    expect(renderDryRun(collected, 'line', undefined)).toBe(
      `${summary}bodies:
  batches        2
  bytes    123,456
  sha256 ${'ab'.repeat(32)}
the first bookings, names masked:
  {"ServiceId":7,"BookingClientName":"***"}
  {"ServiceId":8}
`,
    );
  });

  it('shows what the local copy of the mappings flags, if anything', () => {
    const suspects = { bookings: 1 };
    expect(renderDryRun({ ...report, suspects }, 'line', undefined)).toContain(
      'what the local copy of the mappings says:\n  suspects: 1 booking whose mapping differs or changed recently\n',
    );
    const none = { bookings: 0 };
    expect(renderDryRun({ ...report, suspects: none }, 'line', undefined)).toBe(
      renderDryRun(report, 'line', undefined),
    );
  });

  it('shows what source.where leaves out', () => {
    const column = { column: 'Status', condition: '["ok"]', isOfWords: true, taken: 9, leftOut: 1 };
    const filters = {
      columns: [column],
      warnings: [{ kind: 'few-left-out' as const, column: 'Status', leftOut: 1, usual: 20 }],
    };
    expect(renderDryRun({ ...report, filters }, 'line', undefined)).toContain(`source.where:
  Status: 1 of 10 records left out; its values are not listed
  warning: source.where leaves out 1 record of 2026-11-20 by Status, usually 20:
  check how the export writes its values
`);
  });

  it('shows the file, and no bodies where there are none', () => {
    const file = { name: '20112026.csv', rows: 990, bytes: 84_150, sha256: 'cd'.repeat(32) };
    const collected = { ...report, file, batches: 0, bytes: 0, sha256: 'ab'.repeat(32) };
    expect(renderDryRun(collected, 'line', undefined)).toBe(
      `${summary}file 20112026.csv:
  rows      990
  bytes  84,150
  sha256 ${'cd'.repeat(32)}
`,
    );
  });

  it('keeps a long path off its first line, and omits an unknown one', () => {
    const source = `/exports/${'deep/'.repeat(20)}bookings.csv`;
    expect(
      renderDryRun({ ...report, source }, 'line', undefined)
        .split('\n')
        .slice(0, 2),
    ).toEqual(['2026-11-20: dry run; nothing was sent', `source: ${source}`]);
    expect(renderDryRun({ ...report, source: undefined }, 'line', undefined)).not.toContain('source:');
  });

  it('says where the bodies are, and that they contain names', () => {
    const text = renderDryRun({ ...report, sha256: '' }, 'line', './out');
    expect(text.split('\n').at(-2)).toBe('Everything is in ./out; it holds guest names.');
  });

  it('says why the run would fail, and shows no bodies', () => {
    const message =
      '300 of 1000 records of /exports/bookings.csv cannot be sent, more than maxRejectedShare allows (10%)';
    expect(renderDryRun({ ...report, error: { message } }, 'line', './out')).toBe(
      `${summary}The run would fail before anything is sent:
  300 of 1000 records of /exports/bookings.csv cannot be sent, more than
  maxRejectedShare allows (10%)
`,
    );
  });
});
