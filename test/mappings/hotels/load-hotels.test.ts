import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Ledger } from '../../../src/ledger/ledger.js';
import { ExportFileError } from '../../../src/mappings/export/inspect-file.js';
import { loadHotels } from '../../../src/mappings/hotels/load-hotels.js';
import { type OpenedSqliteLedger, openSqliteLedger } from '../../ledger/opened-ledger.js';
import { withReplaced } from '../../support/fake-ledger.js';
import { cutIntoBlocks } from '../export/blocks.js';
import { hotelColumns } from '../export/small-export.js';

const columns = hotelColumns.split(',');
const at = Date.UTC(2026, 10, 22, 2, 0);

/** A row of the content file with these cells; the others are empty. */
function row(cells: Readonly<Record<string, string | number>>): string {
  const quoted = columns.map((column) => `"${String(cells[column] ?? '').replaceAll('"', '""')}"`);
  return `${quoted.join(',')}\r\n`;
}

const fileOf = (...rows: readonly string[]) => `${hotelColumns}\r\n${rows.join('')}`;

let opened: OpenedSqliteLedger;
let hotels: Ledger['hotels'];
let loads = 0;
beforeEach(async () => {
  opened = await openSqliteLedger();
  hotels = opened.ledger.hotels;
});
afterEach(() => opened.cleanUp());

function load(
  content: string | AsyncIterable<Uint8Array>,
  { masterIdNames = ['ServiceId'], signal = new AbortController().signal, store = hotels } = {},
) {
  loads += 1;
  return loadHotels(
    {
      file: 'hotels.csv',
      content: typeof content === 'string' ? cutIntoBlocks(Buffer.from(content), [40, 700]) : content,
      masterIdNames,
    },
    { hotels: store, clock: () => at, createId: () => `load-${loads}` },
    signal,
  );
}

describe('loading a content file', () => {
  it('reads every column that is shown', async () => {
    const content = fileOf(
      row({
        ServiceId: ' 007 ',
        HotelName: ' Hotel "One", by the\r\nsea ',
        Lat: '40.4168',
        Long: '-3.70379',
        AddressLine1: 'Calle Mayor 1',
        AddressLine2: '2nd floor',
        City: 'Madrid',
        CountryName: 'Spain',
        CountryCode: 'ES',
        Phones: '+34 1;+34 2',
        Email: 'a@hotels.example',
        Website: 'https://hotels.example',
      }),
    );
    expect(await load(content)).toEqual({
      load: { id: `load-${loads}`, file: 'hotels.csv', at, finishedAt: at, hotels: 1, kept: 0 },
      rows: 1,
      repeated: 0,
      withoutCoordinates: 0,
      skipped: 0,
      skippedRows: [],
    });
    expect(await hotels.lookUp([7])).toEqual([
      {
        serviceId: 7,
        name: 'Hotel "One", by the sea',
        coordinates: { latitude: 40.4168, longitude: -3.70379 },
        address: 'Calle Mayor 1, 2nd floor',
        city: 'Madrid',
        country: 'Spain',
        countryCode: 'ES',
        phones: '+34 1;+34 2',
        email: 'a@hotels.example',
        website: 'https://hotels.example',
        loadedAt: at,
      },
    ]);
  });

  it.each([
    ['', '', undefined],
    ['0', '0.000', undefined],
    ['5', '-180.1', undefined],
    ['1e1', '5', undefined],
    ['-33,5', '0,25', { latitude: -33.5, longitude: 0.25 }],
  ])(
    'keeps the name of a hotel at %j, %j, and its coordinates if they are possible',
    async (Lat, Long, coordinates) => {
      const loaded = await load(
        fileOf(row({ ServiceId: 1, HotelName: 'H', Lat, Long, City: 'NULL', Email: 'none' })),
      );
      expect(loaded).toMatchObject({ withoutCoordinates: coordinates ? 0 : 1, skipped: 0 });
      const hotel = { serviceId: 1, name: 'H', loadedAt: at, ...(coordinates && { coordinates }) };
      expect(await hotels.lookUp([1])).toEqual([hotel]);
    },
  );

  it('leaves out rows that it cannot read, says which and why, and counts those of a hotel that comes again', async () => {
    const unquoted = `2,Hotel, by the sea${','.repeat(columns.length - 2)}\r\n`;
    const loaded = await load(
      fileOf(
        row({ ServiceId: 1, HotelName: 'one' }),
        row({ ServiceId: 6, HotelName: 'five' }),
        unquoted.replace(/,\r/, ',x\r'),
        row({ ServiceId: 'H3', HotelName: 'three' }),
        '4,short\r\n',
        row({ ServiceId: '9007199254740992' }),
        row({ ServiceId: 6, HotelName: 'six' }).replace('\r\n', ', ,\r\n'),
      ),
    );
    const noId = 'ServiceId: expected digits, a whole number from 1 to 2^53-1';
    expect(loaded).toMatchObject({
      ...{ rows: 7, repeated: 1, skipped: 4 },
      skippedRows: [
        { row: 3, reason: 'expected 28 cells, got: 29' },
        { row: 4, reason: noId },
        { row: 5, reason: 'expected 28 cells, got: 2' },
        { row: 6, reason: noId },
      ],
    });
    expect(await hotels.lookUp([1, 6])).toMatchObject([{ name: 'one' }, { name: 'six' }]);
  });

  it('fails and changes nothing if too many rows cannot be read', async () => {
    await load(fileOf(row({ ServiceId: 1, HotelName: 'old' })));
    const odd = Array.from({ length: 6 }, () => row({ ServiceId: 'x' }));
    const failing = load(fileOf(row({ ServiceId: 1, HotelName: 'new' }), ...odd));
    await expect(failing).rejects.toThrow(
      "hotels.csv: 6 of 7 rows can't be read, such as row 2 (ServiceId: expected digits, a whole number from 1 to 2^53-1): more than a tenth",
    );
    expect(await hotels.lookUp([1])).toMatchObject([{ name: 'old' }]);
    // A few odd rows are tolerated in any file.
    expect(await load(fileOf(...odd.slice(1)))).toMatchObject({ rows: 5, skipped: 5, load: { hotels: 0 } });
  });

  it.each([
    ['', 'expected a header, got: an empty file'],
    [hotelColumns.replace('ServiceId', 'Id'), 'has no column MasterId or ServiceId in its header'],
    [`${hotelColumns}\r\n1,"open`, 'a quote in row 1 is not closed'],
    [
      `${fileOf(row({ ServiceId: 1 }))}2,"open${','.repeat(columns.length - 2)}\r\n3,a"${','.repeat(columns.length - 2)}\r\n`,
      'a quote in row 2 is not closed before other rows',
    ],
  ])('refuses a file that is not a content file: %j', async (content, message) => {
    const failing = load(content, { masterIdNames: ['MasterId', 'ServiceId'] });
    await expect(failing).rejects.toThrow(message);
    await expect(failing).rejects.toBeInstanceOf(ExportFileError);
  });

  it('says that a column is missing before it says what is wrong with a row of the same block', async () => {
    const tooLong = 'x'.repeat(1_100_000);
    const block = Buffer.from(`${hotelColumns.replace('HotelName', 'Name')}\r\n${tooLong}\r\n`);
    await expect(load(cutIntoBlocks(block, []))).rejects.toThrow('has no column HotelName in its header');
  });

  it.each([
    ['was interrupted', false],
    ['lost the right to load', true],
  ])('starts over after it %s, and leaves no rows behind', async (_, isLost) => {
    await load(fileOf(row({ ServiceId: 1, HotelName: 'old' })));
    const stop = new AbortController();
    async function* interrupted() {
      // More than a chunk, so that some of it is stored.
      yield Buffer.from(
        fileOf(...Array.from({ length: 6_000 }, (_, index) => row({ ServiceId: index + 1, HotelName: 'x' }))),
      );
      stop.abort(new Error('stopped'));
      yield Buffer.from(row({ ServiceId: 1 }));
    }
    const holdLoad = async () => ({ lost: stop.signal, release: async () => {} });
    const losing = { store: withReplaced(opened.ledger, { hotels: { holdLoad } }).hotels };
    const loading = load(interrupted(), isLost ? losing : { signal: stop.signal });
    await expect(loading).rejects.toThrow('stopped');
    expect(await hotels.lookUp([1, 2])).toMatchObject([{ name: 'old' }, undefined]);
    const countRows = () => {
      const raw = opened.openRaw();
      const count = raw.get('SELECT count(*) AS count FROM hotel_contents')?.count;
      raw.close();
      return count;
    };
    expect(countRows()).toBeGreaterThan(5_000);
    await load(fileOf(row({ ServiceId: 1, HotelName: 'new' })));
    expect(countRows()).toBe(1);
    expect(await hotels.lookUp([1])).toMatchObject([{ name: 'new' }]);
  });
});
