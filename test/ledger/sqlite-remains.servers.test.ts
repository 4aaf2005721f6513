import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSqliteLedger } from '../../src/ledger/sqlite/sqlite-ledger.js';
import { at } from '../contracts/ledger/days.js';
import { mountSmallDisk, smallDiskNeeds } from '../support/machine.js';

describe('what SQLite leaves in its files of names that were removed', () => {
  describe('while something prevents a rewrite', () => {
    it('needs free disk for two more of it', async ({ skip }) => {
      skip(smallDiskNeeds !== undefined, smallDiskNeeds);
      const folder = mkdtempSync(join(tmpdir(), 'ledger-'));
      const disk = mountSmallDisk(folder, 1_600);
      const path = join(folder, 'ledger.db');
      const ledger = createSqliteLedger({ path, clock: () => at });
      onTestFinished(() => ledger.close());
      await ledger.audit.replaceSubject('BR-1', 'erased:1');
      expect(await ledger.guests.clearRemains()).toMatchObject({
        why: expect.stringContaining('of free disk, and there is less'),
      });
      disk.grow();
      expect(await ledger.guests.clearRemains()).toBeUndefined();
      expect(readdirSync(folder).filter((name) => name.startsWith('etilqs'))).toEqual([]);
    });
  });
});
