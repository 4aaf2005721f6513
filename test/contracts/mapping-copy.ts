import { afterEach, beforeEach, describe } from 'vitest';
import type { OpenedLedger } from './ledger.js';
import { describeCycles } from './mapping-copy/cycles.js';
import { describeModel } from './mapping-copy/model.js';
import { describeNewHotels } from './mapping-copy/new-hotels.js';
import { describeReading } from './mapping-copy/reading.js';
import { describeRows } from './mapping-copy/rows.js';

/** The contract of every adapter of the local copy. */
export function describeMappingCopyContract(
  name: string,
  { open }: { readonly open: () => Promise<OpenedLedger> },
): void {
  describe(`the contract of the mapping copy: ${name}`, () => {
    let opened: OpenedLedger;
    beforeEach(async () => {
      opened = await open();
    });
    afterEach(() => opened.cleanUp());

    for (const describePart of [
      describeCycles,
      describeRows,
      describeReading,
      describeNewHotels,
      describeModel,
    ]) {
      describePart(() => opened);
    }
  });
}
