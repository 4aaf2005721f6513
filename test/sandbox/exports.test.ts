import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, it, vi } from 'vitest';
import { createWorld } from '../../src/sandbox/world/world.js';
import { decodeQuotedPrintable } from '../support/email.js';
import { patienceMs } from '../support/patience.js';
import {
  askAll,
  askJson,
  changeWorld,
  type StartedSandbox,
  startedAt,
  startedSandbox,
} from './started-sandbox.js';

const guid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const exportPath = '/mappings/ExportMappingsFile';
const address = 'ann@agency.example';
const taken = { Status: true, Message: expect.any(String), StatusCode: 2000 };
type Row = Readonly<Record<string, string>>;

function exportTo(sandbox: StartedSandbox, query: Readonly<Record<string, string>> = { emailId: address }) {
  return askJson(sandbox, `${exportPath}?${new URLSearchParams(query)}`);
}

const toldOf = ({ told }: StartedSandbox, what: string) =>
  told.filter((line) => line.startsWith('sandbox_') && line.includes(`.csv: ${what}`));

async function waitFor(sandbox: StartedSandbox, what: string, count = 1) {
  const wait = { timeout: patienceMs, interval: 5 };
  await vi.waitUntil(() => toldOf(sandbox, what).length >= count, wait);
}

async function exported(sandbox: StartedSandbox, query?: Readonly<Record<string, string>>) {
  expect(await exportTo(sandbox, query)).toEqual(taken);
  await waitFor(sandbox, 'written');
  return readExport(sandbox);
}

async function readExport({ sftp }: StartedSandbox) {
  const names = await readdir(sftp.root);
  const read = async (kind: string) => {
    const name = names.find((one) => new RegExp(`^sandbox_${kind}_${guid}\\.csv$`).test(one)) ?? '';
    const text = await readFile(join(sftp.root, name), 'utf8');
    return {
      name,
      text,
      header: text.slice(0, text.indexOf('\n')),
      rows: parse(text, { columns: true }) as Row[],
    };
  };
  const [mappings, transformed, hotels] = await Promise.all(['mappings', 'transformed', 'hotels'].map(read));
  if (!mappings || !transformed || !hotels) throw new Error('expected three files');
  return { names, mappings, transformed, hotels };
}

describe('An export', () => {
  it('consists of three files with one guid and the specified columns', async () => {
    const { names, mappings, transformed, hotels } = await exported(await startedSandbox());
    expect(names).toHaveLength(3);
    const guids = names.map((name) => new RegExp(guid).exec(name)?.[0]);
    expect(new Set(guids).size).toBe(1);
    expect(mappings.header).toBe(
      'ServiceId,ProviderHotelId,ProviderFamily,ModifiedOn,ChannelIds,ProviderLocationId',
    );
    expect(transformed.header).toBe('ServiceId,NorthStar,Bedlink,Room & Co,Atlántico,Sakura,Meridian');
    expect(hotels.header).toBe(
      'ServiceId,HotelName,Lat,Long,AddressLine1,AddressLine2,City,State,StateCode,CountryName,CountryCode,' +
        'PostalCode,StarRating,PropertyType,ChainName,BrandName,CityLocationId,MasterCityName,LocationIds,Phones,' +
        'Fax,Email,Website,AirportCodes,TrainStations,ProviderHotelId,ProviderFamily,GooglePlusCode',
    );
  });

  it('has, in its mapping file, the same mappings as the pages, without deleted ones', async () => {
    const sandbox = await startedSandbox();
    changeWorld(sandbox, 400);
    const standing = (await askAll(sandbox)).filter(({ Type }) => Type !== 'Delete');
    const { mappings } = await exported(sandbox);
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
    const changed = mappings.rows.filter(({ ModifiedOn }) => Date.parse(ModifiedOn ?? '') > startedAt);
    const since = new Date(startedAt).toISOString();
    const answered = await askAll(sandbox, { since, syncId: 'sync-2' });
    expect(changed).toHaveLength(answered.filter(({ Type }) => Type !== 'Delete').length);
  });

  it('has a row for each mapped hotel in its other files, ordered by id', async () => {
    const sandbox = await startedSandbox();
    changeWorld(sandbox, 900);
    const { mappings, transformed, hotels } = await exported(sandbox);
    const ids = [...new Set(mappings.rows.map(({ ServiceId }) => Number(ServiceId)))].sort((a, b) => a - b);
    expect(transformed.rows.map(({ ServiceId }) => Number(ServiceId))).toEqual(ids);
    expect(hotels.rows.map(({ ServiceId }) => Number(ServiceId))).toEqual(ids);
    const several = transformed.rows.filter((row) => Object.values(row).join().includes(';'));
    expect(several).not.toEqual([]);
    const pairs = transformed.rows.flatMap(({ ServiceId, ...providers }) =>
      Object.entries(providers).flatMap(([provider, cell]) =>
        cell === '' ? [] : cell.split(';').map((id) => `${ServiceId} ${provider} ${id}`),
      ),
    );
    expect(pairs.sort()).toEqual(
      mappings.rows.map((row) => `${row.ServiceId} ${row.ProviderFamily} ${row.ProviderHotelId}`).sort(),
    );
    for (const hotel of hotels.rows) {
      expect(pairs).toContain(`${hotel.ServiceId} ${hotel.ProviderFamily} ${hotel.ProviderHotelId}`);
      expect(hotel.GooglePlusCode).toMatch(/^[23456789CFGHJMPQRVWX]{8}\+[23456789CFGHJMPQRVWX]{2}$/);
      expect(Math.abs(Number(hotel.Lat))).toBeLessThan(90);
      expect(hotel.CountryCode).toMatch(/^[A-Z]{2}$/);
    }
  });

  it('uses brands of the brand list', async () => {
    const sandbox = await startedSandbox();
    const { HotelBrands } = (await askJson(sandbox, '/content/GetMasterHotelBrands')) as {
      HotelBrands: readonly { readonly BrandName: string }[];
    };
    const known = ['', ...HotelBrands.map(({ BrandName }) => BrandName)];
    const { hotels } = await exported(sandbox);
    const named = new Set(hotels.rows.map(({ BrandName }) => BrandName ?? ''));
    expect(known).toEqual(expect.arrayContaining([...named]));
    expect(named.size).toBeGreaterThan(5);
  });

  it('has only the mappings of the requested providers', async () => {
    const query = { emailId: address, providerfamilies: 'Sakura, Room & Co' };
    const { mappings, transformed, hotels } = await exported(await startedSandbox(), query);
    expect(new Set(mappings.rows.map(({ ProviderFamily }) => ProviderFamily))).toEqual(
      new Set(['Room & Co', 'Sakura']),
    );
    expect(transformed.header).toBe('ServiceId,Room & Co,Sakura');
    expect(new Set(hotels.rows.map(({ ProviderFamily }) => ProviderFamily)).size).toBe(2);
  });

  it('is delivered by an e-mail that carries the files', async () => {
    const sandbox = await startedSandbox();
    const { names } = await exported(sandbox);
    const [email] = await readdir(sandbox.outbox);
    const parts = (await readFile(join(sandbox.outbox, email ?? ''), 'latin1')).split(/\r\n--[^\r\n]+/);
    for (const name of names) {
      const part = parts.find((one) => one.includes(`filename=${name}`)) ?? '';
      expect(part).toContain('Content-Transfer-Encoding: base64');
      const [, content = ''] = part.split('\r\n\r\n');
      expect(Buffer.from(content, 'base64')).toEqual(await readFile(join(sandbox.sftp.root, name)));
    }
  });

  it('is only named where the files are too large for an e-mail', async () => {
    const sandbox = await startedSandbox({ world: createWorld({ seed: 1, hotels: 25_000 }) });
    expect(await exportTo(sandbox)).toEqual(taken);
    await waitFor(sandbox, 'written');
    const [email] = await readdir(sandbox.outbox);
    const text = decodeQuotedPrintable(await readFile(join(sandbox.outbox, email ?? ''), 'latin1'));
    for (const name of await readdir(sandbox.sftp.root)) expect(text).toContain(`  ${name}\n`);
    expect(text).not.toContain('filename=');
  });

  it('is announced by an e-mail that names the files, sent to the given address', async () => {
    const sandbox = await startedSandbox();
    const { names } = await exported(sandbox);
    const [email] = await readdir(sandbox.outbox);
    const text = decodeQuotedPrintable(await readFile(join(sandbox.outbox, email ?? ''), 'latin1'));
    expect(text).toContain(`To: ${address}\n`);
    for (const name of names) expect(text).toContain(`  ${name}\n`);
    const path = join(sandbox.outbox, email ?? '');
    expect(toldOf(sandbox, 'written')).toEqual([expect.stringContaining(`.csv: written; e-mail: ${path}`)]);
    expect(sandbox.told.join('\n')).not.toContain(address);
  });

  it.each([
    ['without an address', {}, 2025],
    ['with a blank address', { emailId: ' ' }, 2025],
    ['with an invalid address', { emailId: 'ann' }, 2002],
    ['with two addresses', { emailId: 'ann@a.example,bob@b.example' }, 2002],
    ['with a line end in its address', { emailId: 'ann@a.example\r\nBcc: bob@b.example' }, 2002],
    ['for an unknown provider', { emailId: address, providerfamilies: 'Sakura,Roomly' }, 2011],
  ])('%s is refused, and nothing is written', async (_, query, statusCode) => {
    const sandbox = await startedSandbox();
    const refusal = { Status: false, Message: expect.any(String), StatusCode: statusCode };
    expect(await exportTo(sandbox, query)).toEqual(refusal);
    expect(sandbox.told).toEqual([`call 1 export: 200 ${statusCode}, export refused`]);
    await sandbox.close();
    expect(await readdir(sandbox.sftp.root)).toEqual([]);
  });
});

describe('An export with a fault', () => {
  it('is partial, missing together with its e-mail, or late', async () => {
    const sandbox = await startedSandbox({
      faults: ['result-partial@1', 'result-missing@2', 'result-late:0.2@3'],
    });
    await exportTo(sandbox);
    await waitFor(sandbox, 'only the first halves (fault)');
    const { mappings } = await readExport(sandbox);
    expect(mappings.rows).toHaveLength(Math.floor(sandbox.world.mappings.length / 2));
    await exportTo(sandbox);
    await waitFor(sandbox, 'never written (fault)');
    expect(await readdir(sandbox.sftp.root)).toHaveLength(3);
    expect(await readdir(sandbox.outbox)).toHaveLength(1);
    await exportTo(sandbox);
    await waitFor(sandbox, 'written');
    expect(await readdir(sandbox.sftp.root)).toHaveLength(6);
    expect(await readdir(join(sandbox.folder, '.sandbox-export-drafts'))).toEqual([]);
  });

  it('is abandoned when the sandbox is closed, and leaves no drafts', async () => {
    const sandbox = await startedSandbox({ resultDelayMs: 60_000 });
    await exportTo(sandbox);
    await sandbox.close();
    expect(toldOf(sandbox, 'abandoned')).toHaveLength(1);
    expect(await readdir(sandbox.sftp.root)).toEqual([]);
    expect((await readdir(sandbox.folder)).filter((name) => name.includes('draft'))).toEqual([]);
  });
});
