import { expect, it } from 'vitest';
import { describeEvent } from '../../src/sandbox/describe-event.js';
import type { SandboxEvent } from '../../src/sandbox/sandbox.js';

const call = { part: 'service', kind: 'unanswered', number: 1, operation: 'by-body', incorrect: 0 } as const;
const page = { part: 'service', kind: 'answered', number: 2, httpStatus: 200, statusCode: 2000 } as const;
const exported = { part: 'export', files: ['out/a.csv', 'out/b.csv'] } as const;
const result = { part: 'file-review', path: 'r.csv', incorrect: 0 } as const;

it.each<[string, SandboxEvent]>([
  ['call 1 by-body: no answer, 0 bookings accepted', { ...call, bookings: 0 }],
  ['call 1 by-body: no answer, 1 booking accepted', { ...call, bookings: 1 }],
  ['r.csv: 1 row, 0 wrongly mapped', { ...result, kind: 'result-written', rows: 1 }],
  ['r.csv: 2 rows, 0 wrongly mapped', { ...result, kind: 'result-written', rows: 2 }],
  ['r.csv: only 0 of 1 row (fault)', { ...result, kind: 'result-partial', rows: 1, written: 0 }],
  [
    'call 2 mappings: 200 2000, 1 mapping sent, the last page',
    { ...page, operation: 'mappings', mappings: 1, isLastPage: true },
  ],
  [
    'call 2 mappings: 200 2000, 1000 mappings sent',
    { ...page, operation: 'mappings', mappings: 1_000, isLastPage: false },
  ],
  ['call 2 brands: 200 2000, 86 brands sent', { ...page, operation: 'brands', brands: 86 }],
  ['call 2 export: 200 2000, export accepted', { ...page, operation: 'export', isAccepted: true }],
  [
    'call 2 export: 200 2025, export refused',
    { ...page, statusCode: 2025, operation: 'export', isAccepted: false },
  ],
  ['out/a.csv, out/b.csv: written; e-mail: 1.eml', { ...exported, kind: 'export-written', email: '1.eml' }],
  ['out/a.csv, out/b.csv: only the first halves (fault)', { ...exported, kind: 'export-partial' }],
  ['out/a.csv, out/b.csv: never written (fault)', { ...exported, kind: 'export-missing' }],
  ['out/a.csv, out/b.csv: abandoned', { ...exported, kind: 'export-given-up' }],
  ['out/a.csv, out/b.csv: failed (ENOSPC)', { ...exported, kind: 'export-failed', reason: 'ENOSPC' }],
  ['out/a.csv, out/b.csv: no e-mail (EIO)', { ...exported, kind: 'export-email-failed', reason: 'EIO' }],
  ['SFTP: received r.csv, 1 byte', { part: 'sftp', kind: 'received', path: 'r.csv', bytes: 1 }],
])('the sandbox says: %s', (text, event) => {
  expect(describeEvent(event, 0)).toBe(`00:00:00  ${text}`);
});
