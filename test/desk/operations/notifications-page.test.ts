import { expect, it } from 'vitest';
import { openTemporaryLedger } from '../../review/temporary-ledger.js';
import { getPage, now, readRows, startDesk } from '../some-desk.js';

it('The newest hundred open problems are shown, the newest first', async () => {
  const ledger = await openTemporaryLedger(() => now);
  const problems = Array.from({ length: 101 }, (_, index) => `problem ${index}`);
  await ledger.notices.raise(
    problems.map((subject, index) => ({
      event: 'day-late' as const,
      subject,
      facts: {},
      raisedAt: now + index,
    })),
  );
  const { url } = await startDesk({ ledger, role: 'operator' });
  const { text } = await getPage(url, '/notifications');
  const subjects = readRows(text.slice(text.indexOf('Open problems'))).map(([, subject]) => subject);
  expect([subjects.length, subjects[0]]).toEqual([100, 'problem 100']);
});
