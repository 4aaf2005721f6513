import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FetchedExport } from '../../src/ledger/mappings.js';
import type { OpenedLedger } from './ledger.js';

const at = Date.UTC(2026, 10, 22, 2, 0);

function fetchedExport(id: string, changes: Partial<FetchedExport> = {}): FetchedExport {
  const file = (kind: 'mappings' | 'transformed' | 'hotels') =>
    ({ kind, name: `acme_${kind}_${id}.csv`, rows: 25_000, bytes: 3_000_000_000, sha256: 'ab12' }) as const;
  return {
    id,
    fetchedAt: at,
    providers: [],
    files: [file('mappings'), file('transformed'), file('hotels')],
    ...changes,
  };
}

/** The contract of every adapter of the export log. */
export function describeExportLogContract(
  name: string,
  { open }: { readonly open: () => Promise<OpenedLedger> },
): void {
  describe(`the contract of the export log: ${name}`, () => {
    let opened: OpenedLedger;
    beforeEach(async () => {
      opened = await open();
    });
    afterEach(() => opened.cleanUp());

    it('returns the latest request in every process', async () => {
      const { exports } = opened.ledger;
      await exports.rememberRequest({ requestedAt: at, serviceTime: at - 3, providers: ['a', 'é "b"'] });
      const other = (await opened.reopen()).exports;
      expect(await other.latestRequest()).toEqual({
        requestedAt: at,
        serviceTime: at - 3,
        providers: ['a', 'é "b"'],
      });
      // A clock that was set back does not make an older request the latest.
      await other.rememberRequest({ requestedAt: at - 60_000, providers: [] });
      expect(await exports.latestRequest()).toEqual({ requestedAt: at - 60_000, providers: [] });
    });

    it('does not change an export that is recorded again', async () => {
      const { exports } = opened.ledger;
      await exports.rememberFetched(fetchedExport('g1'));
      await exports.rememberFetched(fetchedExport('g2'));
      await exports.rememberFetched(fetchedExport('g1', { fetchedAt: at + 1, files: [] }));
      expect(await exports.latestFetched()).toEqual(fetchedExport('g2'));
      await exports.rememberFetched(fetchedExport('g2', { fetchedAt: at + 1, files: [] }));
      expect(await exports.latestFetched()).toEqual(fetchedExport('g2'));
    });
  });
}
