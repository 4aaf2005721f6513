import { beforeEach, expect, it } from 'vitest';
import type { DeskParts } from '../../../src/desk/page.js';
import { openTemporaryLedger } from '../../review/temporary-ledger.js';
import { loadHotels, openCases } from '../cases/some-cases.js';
import { getPage, now, startDesk } from '../some-desk.js';

const hourMs = 3_600_000;

let ledger: DeskParts['ledger'];
beforeEach(async () => {
  ledger = await openTemporaryLedger(() => now);
});

async function sync(syncId: string, rows: readonly (readonly [string, string, number])[], at = now) {
  await ledger.mappings.beginSync({ scope: '', syncId, since: 0, at });
  const changed = rows.map(([providerName, providerHotelId, serviceId]) => ({
    ...{ providerName, providerHotelId, serviceId, channelIds: [], isDeleted: false },
  }));
  await ledger.mappings.storePage({ syncId, rows: changed, at });
}

async function look(query: string) {
  const { url } = await startDesk({ ledger });
  return (await getPage(url, `/mappings${query}`)).text;
}

it('A provider’s hotel is shown with its history, its hotel, and the cases of each hotel that it had', async () => {
  await sync('one', [['hotel beds', '007', 7]]);
  await sync('two', [['hotel beds', '007', 8]], now + 1);
  await loadHotels(ledger, [{ serviceId: 8, name: 'Hotel Ultonia', city: 'Girona' }]);
  const stays = [['BR-1', '2026-12-24']] as const;
  await openCases(ledger, [{ provider: 'hotel beds', hotel: '007', booked: 7, copy: 8, stays }]);
  const text = await look('?provider=hotel%20beds&hotel=007');
  for (const shown of ['<dd>8</dd>', 'moved from 7 to <strong>8</strong>', '<dd>Hotel Ultonia</dd>'])
    expect(text).toContain(shown);
  expect(text).toMatch(/<dt>Phone<\/dt><dd><span[^>]*>unknown</);
  expect(text).toContain('<a href="/cases/1">Case 1</a>: booked as 7, open.');
});

it('One that the copy does not have is reported as unknown', async () => {
  expect(await look('?provider=A&hotel=1')).toContain('unknown: the mappings were never synced');
  await sync('one', [['A', '2', 7]]);
  const text = await look('?provider=A&hotel=1');
  expect(text).toContain('does not have it. Names and ids must be exactly');
  expect(await look('?provider=A&hotel=')).toContain('does not have it');
});

it('The copy is summarised anew after each sync, with its age', async () => {
  const { url } = await startDesk({ ledger, role: 'viewer', clock: () => now + 2 * hourMs });
  expect((await getPage(url, '/mappings')).text).toContain('There is no local copy yet');
  const read = async () => (await getPage(url, '/mappings')).text;
  await sync('one', [
    ['A', '1', 7],
    ['B', '1', 7],
  ]);
  const first = await read();
  expect(first).toContain('<dt>Mappings</dt><dd>2</dd><dt>Master hotels</dt><dd>1</dd>');
  expect(first).toContain('2 h ago; 2 mappings');
  await sync('two', [['B', '2', 9]], now + hourMs);
  const text = await read();
  expect(text).toContain('<dt>Mappings</dt><dd>3</dd><dt>Master hotels</dt><dd>2</dd>');
  expect(text).toContain('1 h ago; 1 mapping');
  expect(text).toContain('href="/providers/B"');
});
