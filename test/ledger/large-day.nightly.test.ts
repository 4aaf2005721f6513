import { expect, it } from 'vitest';
import { at, batchOf, chunkOf, lineOf, newRun, references, rightOf } from '../contracts/ledger/days.js';
import { openSqliteLedger } from './opened-ledger.js';

it('finds the bookings of a day so large that its reference index is written in parts', async () => {
  const { ledger, cleanUp } = await openSqliteLedger();
  const run = await ledger.runs.create(newRun('r1'));
  const collect = await ledger.bookings.beginCollect(rightOf(run), { source: 'x', at, batchSize: 5_000 });
  const bookings = references(2 ** 19 + 20_000);
  for (let batch = 0; batch * 5_000 < bookings.length; batch += 1) {
    const batches = [batchOf(batch, bookings.slice(batch * 5_000, batch * 5_000 + 5_000))];
    await collect.store(chunkOf({ batches }));
  }
  await collect.finish({ steps: [], at });
  for (let index = 0; index < bookings.length; index += 30_011) {
    const traces = await ledger.bookings.trace(`BR-${index}`);
    expect(traces).toMatchObject([{ kind: 'booking', line: lineOf(`BR-${index}`) }]);
  }
  await cleanUp();
});
