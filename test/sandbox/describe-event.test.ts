import { expect, it } from 'vitest';
import { describeEvent } from '../../src/sandbox/describe-event.js';
import type { SandboxEvent } from '../../src/sandbox/sandbox.js';

const call = { part: 'service', kind: 'unanswered', number: 1, operation: 'by-body', incorrect: 0 } as const;
const result = { part: 'file-review', path: 'r.csv', incorrect: 0 } as const;

it.each<[string, SandboxEvent]>([
  ['call 1 by-body: no answer, 0 bookings taken', { ...call, bookings: 0 }],
  ['call 1 by-body: no answer, 1 booking taken', { ...call, bookings: 1 }],
  ['r.csv: 1 row, 0 wrongly mapped', { ...result, kind: 'result-written', rows: 1 }],
  ['r.csv: 2 rows, 0 wrongly mapped', { ...result, kind: 'result-written', rows: 2 }],
  ['r.csv: only 0 of 1 row, by a fault', { ...result, kind: 'result-partial', rows: 1, written: 0 }],
  ['SFTP: received r.csv, 1 byte', { part: 'sftp', kind: 'received', path: 'r.csv', bytes: 1 }],
])('the sandbox says: %s', (text, event) => {
  expect(describeEvent(event, 0)).toBe(`00:00:00  ${text}`);
});
