import { expect, it } from 'vitest';
import { readErasedGuests, rememberReference } from '../../../src/ledger/guests.js';
import { record } from '../array-source.js';
import { lenient, now, prepareCollect } from '../collecting.js';

const hashKey = 'a key of the tests';

it('the name of an erased guest is neither sent nor kept, whatever cell of a rejected record holds their reference', async () => {
  const { ledger, right, collect } = await prepareCollect();
  await ledger.guests.rememberErased([rememberReference('BR-2', hashKey, now)]);
  const shifted = [
    { ServiceId: 'Ana Lovelace', BookingReferenceId: 'BR-2' },
    { ServiceId: 'Ana Lovelace', BookingReferenceId: '=7', BookingClientName: 'BR-2' },
  ];
  const whole = shifted.map((fields, at) => ({ place: 3 + at, fields, whole: Object.values(fields) }));
  await collect([[record(1), record(2), ...whole]], {
    limits: lenient,
    readErased: () => readErasedGuests(ledger, hashKey),
  });
  const lines = (await ledger.bookings.readBatch(right.runId, 'posted', 0)).toString().trimEnd().split('\n');
  expect(lines).toEqual(['700001,BR-1,Ana Lovelace,,,,', '700002,BR-2,,,,,']);
  expect(JSON.stringify(await ledger.rejects.list(right.runId, 9))).not.toContain('Ana');
  for (const other of [undefined, 'another key of the tests'])
    await expect(readErasedGuests(ledger, other)).rejects.toThrow('set hashKey to that key');
});
