import { expect, it } from 'vitest';
import { explainUnsearched } from '../../src/ledger/rejects.js';
import { at, chunkOf, newRun, rightOf } from '../contracts/ledger/days.js';
import { openSqliteLedger } from './opened-ledger.js';

const hashKey = 'a key of the tests';
const guest = 'Canaria Zwitscherfink';
const reject = { place: 3, reason: 'service-id-invalid', field: 'ServiceId' } as const;
const held = { reference: guest, value: 'BR-2', cells: 'x' };

/** What is in a column of the ledger's only reject. */
type Stored = 'nothing' | 'plain' | 'sealed' | 'keyed';

it.each<
  [
    what: string,
    how: { isEncrypted?: boolean; hashKey?: string; omits?: boolean },
    held: Stored,
    hash: Stored,
  ]
>([
  ['as it is', {}, 'plain', 'plain'],
  ['with hashKey', { hashKey }, 'plain', 'keyed'],
  ['with keys', { isEncrypted: true }, 'sealed', 'nothing'],
  ['with keys and hashKey', { isEncrypted: true, hashKey }, 'sealed', 'keyed'],
  ['without names', { omits: true }, 'nothing', 'nothing'],
  ['without names, with hashKey', { omits: true, hashKey }, 'nothing', 'keyed'],
])('%s, a rejected record is kept, found, purged and erased like a name', async (_, how, heldAs, hashAs) => {
  const { omits = false, ...opened } = how;
  const guestNames = omits ? 'omit' : 'send';
  const { ledger, openRaw, cleanUp } = await openSqliteLedger(opened);
  function look(): Stored[] {
    const [row] = openRaw().all('SELECT held, hash FROM rejects');
    const text = String(row?.held ?? '');
    return [
      text === '' ? 'nothing' : text.includes(guest) ? 'plain' : 'sealed',
      row?.hash === null ? 'nothing' : /^[0-9a-f]{32}$/.test(String(row?.hash)) ? 'keyed' : 'plain',
    ];
  }
  async function storeIn(id: string, day: string) {
    const run = await ledger.runs.create(newRun(id, { day }));
    const how = { source: 'x', at, batchSize: 4, guestNames } as const;
    const collect = await ledger.bookings.beginCollect(rightOf(run), how);
    await collect.store(chunkOf({ rejects: [{ ...reject, ...held }] }));
    await collect.finish({ steps: [], at });
    await ledger.runs.settle(rightOf(run), { state: 'failed', at });
  }
  const isFound = async () => (await ledger.bookings.trace(guest)).length > 0;
  const afterwards = hashAs === 'keyed' ? 'keyed' : 'nothing';
  try {
    await storeIn('r1', '2026-11-20');
    expect(look()).toEqual([heldAs, hashAs]);
    expect(await isFound()).toBe(hashAs !== 'nothing');
    const keys = how.isEncrypted ? './keys' : undefined;
    const unsearched = explainUnsearched({ hashKey: how.hashKey, keys, guestNames });
    expect(unsearched === undefined).toBe(await isFound());
    expect(await ledger.rejects.list('r1', 9)).toEqual([omits ? reject : { ...reject, ...held }]);

    // A hash from which the name can be guessed goes with it.
    await ledger.guests.blankNames('2027-01-01', (lines) => lines);
    expect(look()).toEqual(['nothing', afterwards]);
    expect(await ledger.rejects.list('r1', 9)).toEqual([reject]);

    await ledger.guests.prune('2028-01-01');
    await storeIn('r2', '2026-11-21');
    await ledger.rejects.eraseReject('r2', 3, { withHash: false });
    expect(look()).toEqual(['nothing', afterwards]);
    await ledger.rejects.eraseReject('r2', 3, { withHash: true });
    expect(look()).toEqual(['nothing', 'nothing']);
    expect(await isFound()).toBe(false);
  } finally {
    await cleanUp();
  }
});
