import { beforeEach, expect, it } from 'vitest';
import type { DeskParts } from '../../../src/desk/page.js';
import type { RecordedAction } from '../../../src/rules/action.js';
import { openTemporaryLedger } from '../../review/temporary-ledger.js';
import { getPage, now, readRows, startDesk } from '../some-desk.js';

let ledger: DeskParts['ledger'];
beforeEach(async () => {
  ledger = await openTemporaryLedger(() => now);
});

const record = (changes: Partial<RecordedAction> = {}) =>
  ledger.audit.record({ at: now, who: 'bea (desk)', action: 'show', subject: 'BR-1', ...changes });

async function read(query = '') {
  const { url } = await startDesk({ ledger, role: 'admin' });
  const { status, text } = await getPage(url, `/audit${query}`);
  return { status, text, rows: readRows(text) };
}

it('It can be filtered by day, person, action and subject', async () => {
  await record({ at: Date.parse('2026-11-19T22:59:59Z'), subject: 'day before' });
  await record({ at: Date.parse('2026-11-19T23:00:00Z'), subject: 'first' });
  await record({ at: Date.parse('2026-11-20T22:59:59Z'), subject: 'last', who: 'Carlos (desk)' });
  await record({ at: Date.parse('2026-11-20T23:00:00Z'), subject: 'day after', action: 'evidence' });
  const find = async (query: string) => (await read(query)).rows.map(([, , , subject]) => subject);
  // Days of Madrid.
  expect(await find('?from=2026-11-20&to=2026-11-20')).toEqual(['last', 'first']);
  expect(await find('?who=carlos&from=&to=&action=&subject=')).toEqual(['last']);
  expect(await find('?action=evidence')).toEqual(['day after']);
  expect(await find('?subject=first')).toEqual(['first']);
  expect((await read('?from=2026-11-20&to=2026-11-19')).status).toBe(400);
  expect((await read('?action=dance')).status).toBe(400);
});

it('A long trail comes page by page', async () => {
  for (let number = 0; number < 130; number += 1) await record({ subject: `BR-${number}` });
  const first = await read('?action=show');
  expect(first.text).toContain('130 entries');
  expect([first.rows.length, first.rows[0]?.[3]]).toEqual([100, 'BR-129']);
  const [, older = ''] = /rel="next" href="(\/audit\?action=show&amp;before=\d+)"/.exec(first.text) ?? [];
  const second = await read(older.slice('/audit'.length).replace('&amp;', '&'));
  expect([second.rows.length, second.rows[0]?.[3]]).toEqual([30, 'BR-29']);
  expect(second.text).not.toContain('Older entries');
});
