import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect, it } from 'vitest';
import {
  accepted,
  ask,
  askAll,
  changeWorld,
  readOutbox,
  refused,
  type StartedSandbox,
  startedAt,
  startedSandbox,
  waitForLine,
} from './started-sandbox.js';

const guid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const address = 'ann@agency.example';
type Row = Readonly<Record<string, string>>;

const exportTo = async (
  sandbox: StartedSandbox,
  query: Readonly<Record<string, string>> = { emailId: address },
) => (await ask(sandbox, `/mappings/ExportMappingsFile?${new URLSearchParams(query)}`)).json;

async function exported(sandbox: StartedSandbox, query?: Readonly<Record<string, string>>) {
  expect(await exportTo(sandbox, query)).toEqual(accepted);
  await waitForLine(sandbox, '.csv: ');
  const names = (await readdir(sandbox.sftp.root)).sort();
  const read = async (kind: string) => {
    const name = names.find((one) => new RegExp(`^sandbox_${kind}_${guid}\\.csv$`).test(one)) ?? '';
    const text = await readFile(join(sandbox.sftp.root, name), 'utf8');
    return { header: text.slice(0, text.indexOf('\n')), rows: parse(text, { columns: true }) as Row[] };
  };
  const files = { mappings: await read('mappings'), transformed: await read('transformed') };
  return { names, ...files, hotels: await read('hotels') };
}

it('an export is three files with one guid, the specified columns, and the mappings as the pages have them', async () => {
  const sandbox = await startedSandbox();
  changeWorld(sandbox, 900);
  const { names, mappings, transformed, hotels } = await exported(sandbox);
  expect(new Set(names.map((name) => new RegExp(guid).exec(name)?.[0])).size).toBe(1);
  expect(mappings.header).toBe(
    'ServiceId,ProviderHotelId,ProviderFamily,ModifiedOn,ChannelIds,ProviderLocationId',
  );
  expect(transformed.header).toBe('ServiceId,NorthStar,Bedlink,Room & Co,Atlántico,Sakura,Meridian');
  expect(hotels.header).toBe(
    'ServiceId,HotelName,Lat,Long,AddressLine1,AddressLine2,City,State,StateCode,CountryName,CountryCode,' +
      'PostalCode,StarRating,PropertyType,ChainName,BrandName,CityLocationId,MasterCityName,LocationIds,Phones,' +
      'Fax,Email,Website,AirportCodes,TrainStations,ProviderHotelId,ProviderFamily,GooglePlusCode',
  );
  const standing = (await askAll(sandbox)).filter(({ Type }) => Type !== 'Delete');
  expect(mappings.rows).toEqual(
    standing.map((mapping) => ({
      ServiceId: String(mapping.ServiceId),
      ProviderHotelId: mapping.ProviderHotelId,
      ProviderFamily: mapping.ProviderName,
      ModifiedOn: expect.stringMatching(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      ChannelIds: mapping.ChannelIds.join(';'),
      ProviderLocationId: mapping.ProviderLocationCode,
    })),
  );
  const since = new Date(startedAt + 1).toISOString();
  const changed = (await askAll(sandbox, { since, syncId: 'sync-2' })).filter(
    ({ Type }) => Type !== 'Delete',
  );
  const modified = mappings.rows.filter(({ ModifiedOn = '' }) => Date.parse(ModifiedOn) > startedAt);
  expect(modified).toHaveLength(changed.length);

  const ids = [...new Set(mappings.rows.map(({ ServiceId }) => Number(ServiceId)))].sort((a, b) => a - b);
  expect(transformed.rows.map(({ ServiceId }) => Number(ServiceId))).toEqual(ids);
  expect(hotels.rows.map(({ ServiceId }) => Number(ServiceId))).toEqual(ids);
  const pairs = transformed.rows.flatMap(({ ServiceId, ...providers }) =>
    Object.entries(providers).flatMap(([provider, cell]) =>
      cell === '' ? [] : cell.split(';').map((id) => `${ServiceId} ${provider} ${id}`),
    ),
  );
  expect(pairs.sort()).toEqual(
    mappings.rows.map((row) => `${row.ServiceId} ${row.ProviderFamily} ${row.ProviderHotelId}`).sort(),
  );
  const { HotelBrands } = (await ask(sandbox, '/content/GetMasterHotelBrands')).json;
  const brands = ['', ...HotelBrands.map(({ BrandName }: Row) => BrandName)];
  for (const hotel of hotels.rows) {
    expect(pairs).toContain(`${hotel.ServiceId} ${hotel.ProviderFamily} ${hotel.ProviderHotelId}`);
    expect(hotel.GooglePlusCode).toMatch(/^[23456789CFGHJMPQRVWX]{8}\+[23456789CFGHJMPQRVWX]{2}$/);
    expect(Math.abs(Number(hotel.Lat))).toBeLessThan(90);
    expect(hotel.CountryCode).toMatch(/^[A-Z]{2}$/);
    expect(brands).toContain(hotel.BrandName);
  }
});

it('an export has only the mappings of the requested providers', async () => {
  const query = { emailId: address, providerfamilies: 'Sakura, Room & Co' };
  const { mappings, transformed, hotels } = await exported(await startedSandbox(), query);
  for (const { rows } of [mappings, hotels])
    expect(new Set(rows.map(({ ProviderFamily }) => ProviderFamily))).toEqual(
      new Set(['Room & Co', 'Sakura']),
    );
  expect(transformed.header).toBe('ServiceId,Room & Co,Sakura');
});

it('an e-mail to the given address carries the files, or only names them where they are too large', async () => {
  const small = await startedSandbox();
  const { names } = await exported(small);
  const [email = ''] = await readOutbox(small);
  expect(email).toContain(`To: ${address}\n`);
  const raw = await readFile(join(small.outbox, (await readdir(small.outbox))[0] ?? ''), 'latin1');
  for (const name of names) {
    expect(email).toContain(`  ${name}\n`);
    const part = raw.split(/\r\n--[^\r\n]+/).find((one) => one.includes(`filename=${name}`)) ?? '';
    const content = Buffer.from(part.split('\r\n\r\n')[1] ?? '', 'base64');
    expect(content.equals(await readFile(join(small.sftp.root, name)))).toBe(true);
  }
  expect(small.told.join('\n')).not.toContain(address);
  const { world } = small;
  const hotelOf = (id: number) => ({ ...world.hotelOf(id), name: 'x'.repeat(200_000) });
  const large = await startedSandbox({ world: Object.create(world, { hotelOf: { value: hotelOf } }) });
  await exportTo(large);
  await waitForLine(large, '.csv: written; e-mail: ');
  const [naming] = await readOutbox(large);
  for (const name of await readdir(large.sftp.root)) expect(naming).toContain(`  ${name}\n`);
  expect(naming).not.toContain('filename=');
});

it('an export without a valid address, or for an unknown provider, is refused, and nothing is written', async () => {
  const sandbox = await startedSandbox();
  for (const [query, statusCode] of [
    [{}, 2025],
    [{ emailId: 'ann' }, 2002],
    [{ emailId: 'ann@a.example,bob@b.example' }, 2002],
    [{ emailId: 'ann@a.example\r\nBcc: bob@b.example' }, 2002],
    [{ emailId: address, providerfamilies: 'Sakura,Roomly' }, 2011],
  ] as const)
    expect([query, await exportTo(sandbox, query as never)]).toEqual([query, refused(statusCode)]);
  expect(sandbox.told[0]).toBe('call 1 export: 200 2025, export refused');
  await sandbox.close();
  expect(await readdir(sandbox.sftp.root)).toEqual([]);
});

it('an export with a fault is partial, missing together with its e-mail, or abandoned when the sandbox is closed', async () => {
  const faults = ['result-partial@1', 'result-missing@2', 'result-late:3600@3'];
  const sandbox = await startedSandbox({ faults });
  const { mappings } = await exported(sandbox);
  expect(mappings.rows).toHaveLength(Math.floor(sandbox.world.mappings.length / 2));
  await exportTo(sandbox);
  await waitForLine(sandbox, 'never written (fault)');
  await exportTo(sandbox);
  await sandbox.close();
  expect(sandbox.told.filter((line) => line.endsWith('.csv: abandoned'))).toHaveLength(1);
  expect(await readdir(sandbox.sftp.root)).toHaveLength(3);
  expect(await readOutbox(sandbox)).toHaveLength(1);
  expect((await readdir(sandbox.folder)).filter((name) => name.includes('draft'))).toEqual([]);
});
