import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { MappingRow } from '../../src/ledger/mappings.js';
import { openDatabase } from '../../src/ledger/sqlite/database.js';
import { createDayFolder, type DayFolder } from '../support/day-folder.js';
import { openSsh } from '../support/sftp-programs.js';
import { useSftpServer } from '../support/use-servers.js';
import { fillCopy, hotelColumns, prepareExportFolder, smallExport } from './export-day.js';

const hotelFive =
  '5,Grand Plaza Madrid,40.4168,-3.70379,Calle Mayor 3,,Madrid,,,Spain,ES,,,,,,,,,+34 911,,,,,,,,\r\n';
const content = `${hotelColumns}\r\n${hotelFive}`;

const mapping: MappingRow = {
  ...{ providerName: 'Bedlink', providerHotelId: '007', serviceId: 5 },
  ...{ channelIds: [], isDeleted: false },
};
const show = ['mappings', 'show', 'Bedlink', '007'];

async function prepare(): Promise<DayFolder> {
  const folder = await createDayFolder({ baseUrl: 'http://127.0.0.1:9/api/3.0', hasWorkers: false });
  await fillCopy(folder, [mapping]);
  return folder;
}

describe('hotels load', () => {
  it('lets mappings show name the hotel', async () => {
    const folder = await prepare();
    const before = await folder.run(show);
    expect(before.stdout).toContain('  hotel: unknown\n');
    expect(before.stdout).toContain('hotels load FILE');
    expect((await folder.run([...show, '--json'])).json).toMatchObject({ serviceId: 5, hotel: null });
    writeFileSync(join(folder.path, 'hotels.csv'), content);

    const { exitCode, json } = await folder.run(['hotels', 'load', 'hotels.csv', '--json']);

    expect(exitCode).toBe(0);
    expect(json).toMatchObject({ file: 'hotels.csv', rows: 1, hotels: 1, skipped: 0, skippedRows: [] });
    expect((await folder.run(show)).stdout).toContain(`Bedlink 007: master hotel 5
  hotel: Grand Plaza Madrid
  address: Calle Mayor 3, Madrid, Spain
  coordinates: 40.416800, -3.703790
  phone: +34 911
`);
    expect((await folder.run([...show, '--json'])).json).toMatchObject({
      serviceId: 5,
      hotel: {
        ...{ serviceId: 5, name: 'Grand Plaza Madrid', city: 'Madrid', country: 'Spain', countryCode: 'ES' },
        ...{ latitude: 40.4168, longitude: -3.70379, phones: '+34 911', email: null },
      },
    });
  });

  it('reads gzip, and says which rows it left out', async () => {
    const folder = await prepare();
    writeFileSync(join(folder.path, 'h.csv.gz'), gzipSync(`${content}x,short\r\n`));
    const loaded = await folder.run(['hotels', 'load', 'h.csv.gz']);
    expect(loaded).toMatchObject({ exitCode: 0 });
    expect(loaded.stdout).toContain('The content of 1 hotel is loaded from h.csv.gz, 2 rows.');
    expect(loaded.stdout).toContain('  row 2: expected 28 cells, got: 2');
  });

  it('exits with 2 without a file, and with 1 if it is not a content file', async () => {
    const folder = await prepare();
    expect(await folder.run(['hotels', 'load', 'nowhere.csv'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(
        "nowhere.csv can't be read (ENOENT); name the content file of an export",
      ),
    });
    expect(await folder.run(['hotels', 'load', '.'])).toMatchObject({ exitCode: 2 });
    writeFileSync(join(folder.path, 'mappings.csv'), smallExport.mappings);
    expect(await folder.run(['hotels', 'load', 'mappings.csv'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('mappings.csv: has no column Lat in its header'),
    });
    writeFileSync(join(folder.path, 'cut.gz'), gzipSync(content).subarray(0, 40));
    expect(await folder.run(['hotels', 'load', 'cut.gz'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('cut.gz is a gzip file that is cut off or damaged'),
    });
  });
});

describe('export fetch', () => {
  const server = useSftpServer(openSsh);

  it('loads the content file, once, and again if that was interrupted', async () => {
    const { folder, put } = await prepareExportFolder(server());
    await fillCopy(folder, [mapping]);
    put('g1', { ...smallExport, hotels: content });
    const fetchOnce = ['export', 'fetch', '--wait', '0', '--json'];
    expect(await folder.run(fetchOnce)).toMatchObject({
      exitCode: 0,
      json: { id: 'g1', isNew: true, hotels: { file: 'acme_hotels_g1.csv', hotels: 1 } },
    });
    expect((await folder.run([...show, '--json'])).json).toMatchObject({
      hotel: { name: 'Grand Plaza Madrid' },
    });
    expect((await folder.run(fetchOnce)).json).toMatchObject({ isNew: false, hotels: null });
    // As if the first command had been killed after the fetch.
    const raw = openDatabase(folder.ledgerFile, { busyTimeoutMs: 5_000 });
    raw.exec('DELETE FROM hotel_loads');
    raw.close();
    expect((await folder.run(fetchOnce)).json).toMatchObject({ isNew: false, hotels: { hotels: 1 } });
    expect((await folder.run(show)).stdout).toContain('hotel: Grand Plaza Madrid');
  });
});
