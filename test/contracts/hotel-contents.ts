import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type HotelContent, LoadOvertakenError } from '../../src/ledger/hotels.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import type { OpenedLedger } from './ledger.js';

const at = Date.UTC(2026, 10, 22, 2, 0);

const full: HotelContent = {
  serviceId: 9_007_199_254_740_991,
  name: 'Ξενία "Grand", 東京',
  coordinates: { latitude: -23.550501, longitude: 179.999999 },
  address: 'Calle Mayor 1, 2nd floor',
  city: 'São Paulo',
  country: 'Brazil',
  countryCode: 'BR',
  phones: '+55 11 1;+55 11 2',
  email: 'h@hotels.example',
  website: 'https://hotels.example/1',
};

async function load(
  contents: Ledger['hotels'],
  id: string,
  hotels: readonly HotelContent[],
  startedAt = at,
): Promise<void> {
  await contents.beginLoad({ id, file: `${id}.csv`, at: startedAt });
  await contents.addHotels({ id, after: 0, hotels });
}

const named = (serviceId: number, name: string): HotelContent => ({ serviceId, name });

/** The contract of every adapter of the content of hotels. */
export function describeHotelContentsContract(
  name: string,
  { open }: { readonly open: () => Promise<OpenedLedger> },
): void {
  describe(`the contract of the content of hotels: ${name}`, () => {
    let opened: OpenedLedger;
    let contents: Ledger['hotels'];
    beforeEach(async () => {
      opened = await open();
      contents = opened.ledger.hotels;
    });
    afterEach(() => opened.cleanUp());

    it('returns hotels in the order of the request, in every process', async () => {
      await load(contents, 'l1', [full, { serviceId: 7 }]);
      const finished = await contents.finishLoad('l1', at + 5);
      expect(finished).toEqual({ id: 'l1', file: 'l1.csv', at, finishedAt: at + 5, hotels: 2, kept: 0 });
      const other = (await opened.reopen()).hotels;
      expect(await other.latestLoad()).toEqual(finished);
      expect(await other.lookUp([7, 8, full.serviceId, 7])).toEqual([
        { serviceId: 7, loadedAt: at },
        undefined,
        { ...full, loadedAt: at },
        { serviceId: 7, loadedAt: at },
      ]);
      expect(await other.lookUp([])).toEqual([]);
    });

    it('keeps the content of hotels that only an earlier file named', async () => {
      await load(contents, 'l1', [named(1, 'one'), named(2, 'two'), named(2, 'zwei'), named(3, 'three')]);
      await contents.finishLoad('l1', at);
      await load(contents, 'l2', [named(3, 'drei'), named(4, 'four')], at + 9);
      expect(await contents.finishLoad('l2', at + 10)).toMatchObject({ hotels: 2, kept: 2 });
      const kept = [
        { ...named(1, 'one'), loadedAt: at },
        { ...named(2, 'zwei'), loadedAt: at },
        { ...named(3, 'drei'), loadedAt: at + 9 },
        { ...named(4, 'four'), loadedAt: at + 9 },
      ];
      expect(await contents.lookUp([1, 2, 3, 4])).toEqual(kept);
      while ((await contents.removeUnseen(1)) > 0);
      expect(await contents.lookUp([1, 2, 3, 4])).toEqual(kept);
    });

    it('refuses rows and the end of a load that another one has overtaken', async () => {
      await load(contents, 'l1', [named(1, 'a')]);
      await load((await opened.reopen()).hotels, 'l2', [named(1, 'b')]);
      const late = { id: 'l1', after: 1, hotels: [named(2, 'c')] };
      await expect(contents.addHotels(late)).rejects.toBeInstanceOf(LoadOvertakenError);
      await expect(contents.finishLoad('l1', at)).rejects.toBeInstanceOf(LoadOvertakenError);
      await expect(contents.addHotels({ ...late, id: 'l2', after: 5 })).rejects.toBeInstanceOf(
        LoadOvertakenError,
      );
      await contents.finishLoad('l2', at);
      expect(await contents.lookUp([1, 2])).toMatchObject([{ name: 'b' }, undefined]);
    });

    it('removes the rows of replaced and unfinished loads, a few at a time', async () => {
      await load(contents, 'l1', [named(1, 'a'), named(2, 'a')]);
      await contents.finishLoad('l1', at);
      await load(contents, 'l2', [named(1, 'b'), named(2, 'b')]);
      await contents.finishLoad('l2', at);
      await load(contents, 'l3', [named(1, 'c')]);
      expect(await contents.removeUnseen(2)).toBe(2);
      expect(await contents.removeUnseen(2)).toBe(1);
      expect(await contents.removeUnseen(2)).toBe(0);
      expect(await contents.lookUp([1, 2])).toMatchObject([{ name: 'b' }, { name: 'b' }]);
    });
  });
}
