import { expect, it } from 'vitest';
import { describeEntry } from '../../src/cases/case-words.js';

const showDay = (iso: string) => `day ${iso}`;
const at = '2026-11-21T02:00:00.000Z';
const itself = { at, who: 'hotel-review' };
const bea = { at, who: 'bea' };

it.each([
  [
    { ...itself, action: 'case-opened', origins: 'affected' },
    'opened because the result marked A as incorrect',
  ],
  [
    { ...itself, action: 'case-reopened', origins: 'email watch' },
    'opened again because an e-mail of the service named A, and because the mapping moved or was deleted',
  ],
  [
    { ...itself, action: 'case-updated', origins: 'suspect', bookings: 2 },
    '2 bookings joined it because the local copy of the mappings differed',
  ],
  [
    { ...itself, action: 'case-updated', origins: 'affected', bookings: 0 },
    'found again because the result marked A as incorrect',
  ],
  [{ ...itself, action: 'case-updated', bookings: 1 }, '1 booking joined it'],
  [
    { ...itself, action: 'case-updated', calledCorrect: 2, run: 'r7' },
    'the result of run r7 calls 2 named bookings correct; that resolves nothing',
  ],
  [{ ...itself, action: 'case-updated', day: '2026-11-20' }, 'its bookings changed on day 2026-11-20'],
  [{ ...itself, action: 'case-corrected' }, 'corrected: the mapping moved'],
  [{ ...itself, action: 'case-escalated' }, 'escalated: it was reported, and not corrected in time'],
  [{ ...itself, action: 'case-dismissed', mergedInto: 70 }, 'dismissed: its master hotel was merged into 70'],
  [{ ...bea, action: 'case-dismissed' }, 'bea dismissed it'],
  [{ ...bea, action: 'case-reopened' }, 'bea opened it again'],
  [{ ...bea, action: 'case-reported' }, 'bea reported the mapping to the service'],
  [{ ...bea, action: 'case-noted' }, 'bea changed its note'],
  [{ ...bea, action: 'case-assigned', assignee: 'Tom' }, 'bea assigned it to Tom'],
  [{ ...bea, action: 'case-assigned' }, 'bea assigned it to nobody'],
  [{ ...bea, action: 'case-resolved', as: 'rebooked', bookings: 2 }, 'bea marked 2 bookings as rebooked'],
] as const)('%j is told as: %s', (entry, sentence) => {
  expect(describeEntry(entry, ['A'], showDay)).toBe(sentence);
});

it('Some references are named, and none that are hidden', () => {
  const tell = (references: readonly string[] | null | undefined) =>
    describeEntry({ ...itself, action: 'case-opened', origins: 'email' }, references, showDay);
  expect(tell(['A', 'B', 'C'])).toBe('opened because an e-mail of the service named A, B, C');
  expect(tell(['A', 'B', 'C', 'D'])).toBe('opened because an e-mail of the service named A, B, C and others');
  for (const hidden of [null, undefined, []])
    expect(tell(hidden)).toBe('opened because an e-mail of the service named a booking');
});
