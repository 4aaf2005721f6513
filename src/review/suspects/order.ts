import { orderByKey } from '../verdicts/check-in-order.js';
import { compareKeptKeys, type KeptOrder, writeKeptKey } from '../verdicts/kept-order.js';
import type { SuspectReport } from './listing.js';

/** All suspects by a kept column, in chunks. @param read the suspects, in the same order on each call */
export async function orderSuspects(
  read: () => AsyncIterable<readonly SuspectReport[]>,
  order: KeptOrder,
): Promise<AsyncIterable<readonly SuspectReport[]>> {
  async function* scan() {
    for await (const suspects of read())
      yield suspects.map((suspect) => ({
        key: writeKeptKey(order, suspect.kept, suspect.CheckInDate ?? ''),
        suspect,
      }));
  }
  const ordered = await orderByKey(scan, (item) => item, {
    compareKeys: (keys) => compareKeptKeys(order, keys),
  });
  async function* listOrdered() {
    for await (const items of ordered.read()) yield items.map(({ suspect }) => suspect);
  }
  return listOrdered();
}
