import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { MappingRow } from '../../src/ledger/mappings.js';
import { createDayFolder, type DayFolder } from '../support/day-folder.js';
import { openSsh } from '../support/sftp-programs.js';
import { useSftpServer } from '../support/use-servers.js';
import { fillCopy, mappingColumns, prepareExportFolder, smallExport } from './export-day.js';

const server = useSftpServer(openSsh);
const id = '0b2f6a1e-6f0d-4c54-9d3a-2f1c7f7f0a11';
const providers = ['Bedlink', 'Room & Co', 'Atlántico'];

function makeMapping(index: number): MappingRow {
  return {
    serviceId: 1_000 + Math.floor(index / 2),
    providerName: providers[index % 3] ?? '',
    providerHotelId: index % 5 === 0 ? `0${index}, "x"\nline` : `00${index}`,
    ...(index % 7 !== 0 && { locationCode: `LOC-${index % 50}` }),
    channelIds: index % 4 === 0 ? [] : [`Retail,Net ${index % 3}`, 'B2B,Opaque'],
    isDeleted: false,
  };
}

const cell = (text: string) => `"${text.replaceAll('"', '""')}"`;

function toRow({
  serviceId,
  providerName,
  providerHotelId,
  locationCode = '',
  channelIds,
}: MappingRow): string {
  const cells = [
    providerHotelId,
    providerName,
    '2026-11-20',
    [...channelIds].reverse().join(' | '),
    locationCode,
  ];
  return `${serviceId},${cells.map(cell).join(',')}\r\n`;
}

const toFile = (mappings: readonly MappingRow[]) => `${mappingColumns}\r\n${mappings.map(toRow).join('')}`;

async function prepareCopy(mappings: readonly MappingRow[]): Promise<DayFolder> {
  const folder = await createDayFolder({ baseUrl: 'http://127.0.0.1:9/api/3.0', hasWorkers: false });
  await fillCopy(folder, mappings);
  return folder;
}

const writeMappings = (folder: DayFolder, content: string) =>
  writeFileSync(join(folder.path, 'mappings.csv'), content);

interface Line {
  readonly difference: string;
  readonly ProviderFamily: string;
  readonly ProviderHotelId: string;
  readonly columns?: readonly string[];
  readonly file: { readonly ServiceId: number } | null;
  readonly copy: { readonly ServiceId: number } | null;
}

const readLines = (path: string) =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);

const all = Array.from({ length: 5_000 }, (_, index) => makeMapping(index));

it('finds no difference between a copy and the export of the same mappings, whatever separates channels', async () => {
  const folder = await prepareCopy(all);
  writeMappings(folder, toFile([...all].reverse()));
  const compared = await folder.run(['export', 'compare', 'mappings.csv', '--json']);
  expect(compared.exitCode).toBe(0);
  expect(compared.json).toMatchObject({
    differs: false,
    rows: 5_000,
    same: 5_000,
    added: 0,
    changed: 0,
    gone: 0,
  });
  expect((await folder.run(['export', 'compare', 'mappings.csv'])).stdout).toContain('They do not differ.');
});

it('finds each of 20 planted differences, and nothing else', async () => {
  const planted = new Map<number, string>();
  const plant = (from: number, kind: string) => {
    for (let index = from; index < from + 5_000; index += 1_000) planted.set(index, kind);
  };
  plant(7, 'gone');
  plant(111, 'ServiceId');
  plant(222, 'ChannelIds');
  plant(999, 'ProviderLocationId');
  const inFile = all.flatMap((mapping, index): MappingRow[] => {
    switch (planted.get(index)) {
      case 'gone':
        return [];
      case 'ServiceId':
        return [{ ...mapping, serviceId: mapping.serviceId + 1 }];
      case 'ChannelIds':
        return [{ ...mapping, channelIds: [...mapping.channelIds, 'Wholesale,Net'] }];
      case 'ProviderLocationId':
        return [{ ...mapping, locationCode: 'ELSEWHERE' }];
      default:
        return [mapping];
    }
  });
  const added = Array.from({ length: 5 }, (_, index) => makeMapping(6_000 + index));
  const folder = await prepareCopy(all);
  writeMappings(folder, toFile([...inFile, ...added]));

  const compared = await folder.run(['export', 'compare', 'mappings.csv', '--out', 'all.ndjson', '--json']);

  expect(compared.exitCode).toBe(0);
  expect(compared.json).toMatchObject({
    differs: true,
    rows: 5_000,
    same: 4_980,
    added: 5,
    changed: 15,
    gone: 5,
    changedIn: { ServiceId: 5, ChannelIds: 5, ProviderLocationId: 5 },
    out: 'all.ndjson',
  });
  const lines = readLines(join(folder.path, 'all.ndjson'));
  const found = lines.map(({ difference, columns = [difference], ProviderHotelId }) => [
    columns.join(),
    ProviderHotelId,
  ]);
  const expected = [
    ...[...planted].map(([index, kind]) => [kind, all[index]?.providerHotelId]),
    ...added.map(({ providerHotelId }) => ['added', providerHotelId]),
  ];
  expect(found.sort()).toEqual(expected.sort());
  const moved = lines.find(({ columns }) => columns?.includes('ServiceId'));
  expect(moved?.file?.ServiceId).toBe((moved?.copy?.ServiceId ?? 0) + 1);
});

it('prints the first 20 differences and overwrites no file', async () => {
  const folder = await prepareCopy(all.slice(0, 100));
  writeMappings(folder, toFile([]));
  const compared = await folder.run(['export', 'compare', 'mappings.csv', '--out', 'all.ndjson']);
  expect(compared.stdout).toMatch(/gone: .* +100\n/);
  expect(compared.stdout).toContain('… and 80 more');
  expect(readLines(join(folder.path, 'all.ndjson'))).toHaveLength(100);
  const again = await folder.run(['export', 'compare', 'mappings.csv', '--out', 'all.ndjson', '--json']);
  expect(again).toMatchObject({
    exitCode: 2,
    json: { error: { message: expect.stringContaining('--out') } },
  });
});

it('uses the last of several rows of one hotel and reports contradicting ones', async () => {
  const folder = await prepareCopy(all);
  const [one, other] = [all[11], all[22]] as [MappingRow, MappingRow];
  const before = [
    { ...one, serviceId: 77 },
    { ...one, serviceId: 78 },
    { ...other, locationCode: 'OLD' },
  ];
  const added = { ...makeMapping(6_000), serviceId: 5 };
  writeMappings(folder, toFile([...before, added, ...all, { ...added, serviceId: 6 }]));
  const compared = await folder.run(['export', 'compare', 'mappings.csv', '--out', 'all.ndjson', '--json']);
  expect(compared.json).toMatchObject({
    same: 5_000,
    added: 1,
    changed: 0,
    gone: 0,
    repeated: 4,
    contradicting: 3,
  });
  expect(readLines(join(folder.path, 'all.ndjson'))).toMatchObject([
    { difference: 'added', file: { ServiceId: 6 } },
  ]);
});

it('compares the mappings of selected providers only, ignoring case', async () => {
  const folder = await prepareCopy(all);
  writeMappings(folder, toFile(all.filter(({ providerName }) => providerName !== 'Atlántico').slice(10)));
  const args = ['export', 'compare', 'mappings.csv', '--json', '--providers'];
  expect((await folder.run([...args, 'bedlink'])).json).toMatchObject({
    added: 0,
    changed: 0,
    gone: 5,
    others: 1_662,
  });
  expect((await folder.run([...args, 'Atlántico,Room & Co'])).json).toMatchObject({ gone: 5 + 1_666 });
  expect((await folder.run([...args, 'Nobody'])).json).toMatchObject({ rows: 3_324, others: 3_324, gone: 0 });
});

it('reports that there is nothing to compare', async () => {
  const folder = await prepareCopy(all);
  writeMappings(folder, toFile(all));
  const compared = await folder.run(['export', 'compare', 'mappings.csv', '--providers', 'Nobody']);
  expect(compared.stdout).toContain('Nothing was compared');
});

it('writes no control sequences of the data to the terminal', async () => {
  const folder = await prepareCopy(all);
  writeMappings(folder, toFile([...all, { ...makeMapping(0), providerHotelId: '\u001b]0;owned\u0007' }]));
  const compared = await folder.run(['export', 'compare', 'mappings.csv']);
  expect(compared.stdout).toContain('added');
  expect(compared.stdout).not.toContain('\u001b]');
});

it('counts unreadable rows, and does not report the hotels they name as gone', async () => {
  const folder = await prepareCopy(all.slice(0, 10));
  const content = toFile(all.slice(0, 10)).replace('1001,', 'x1001,');
  writeMappings(folder, `${content}1,2,3\r\n\r\n`);
  const compared = await folder.run(['export', 'compare', 'mappings.csv', '--json']);
  expect(compared.json).toMatchObject({
    differs: false,
    rows: 11,
    same: 9,
    unreadable: 2,
    unreadableRows: [11, 3],
  });
});

it('compares the export fetched last, for the providers that were requested', async () => {
  const { folder, put } = await prepareExportFolder(server());
  await fillCopy(folder, all.slice(0, 9));
  await folder.run(['export', 'request', '--email', 'ops@example.com', '--providers', 'Bedlink']);
  put(id, { ...smallExport, mappings: toFile([all[0], all[3], makeMapping(9)] as MappingRow[]) });
  expect((await folder.run(['export', 'fetch'])).exitCode).toBe(0);
  const compared = await folder.run(['export', 'compare', '--json']);
  expect(compared).toMatchObject({
    exitCode: 0,
    json: { file: `acme_mappings_${id}.csv`, same: 2, added: 1, changed: 0, gone: 1 },
  });
});

it.each([
  ['no copy', [], 'mappings sync'],
  ['no such file', ['absent.csv'], 'absent.csv'],
  ['nothing fetched', [], 'export fetch'],
] as const)('says what to do for %s', async (what, args, words) => {
  const folder = await prepareCopy(what === 'no copy' ? [] : all.slice(0, 5));
  const compared = await folder.run(['export', 'compare', ...args, '--json', '--out', 'all.ndjson']);
  expect(compared).toMatchObject({
    exitCode: 2,
    json: { error: { message: expect.stringContaining(words) } },
  });
  expect(existsSync(join(folder.path, 'all.ndjson'))).toBe(false);
});

it.each([
  [
    'a column is missing',
    'ServiceId,ProviderHotelId,ProviderFamily,ModifiedOn,ChannelIds\n',
    'ProviderLocationId',
  ],
  ['it is empty', '', 'empty'],
  ['a quote is not closed', `${mappingColumns}\n1,"H-1,Bedlink\n`, 'quote'],
])('refuses a file in which %s', async (_what, content, words) => {
  const folder = await prepareCopy(all.slice(0, 5));
  writeMappings(folder, content);
  const compared = await folder.run(['export', 'compare', 'mappings.csv', '--json']);
  expect(compared).toMatchObject({
    exitCode: 1,
    json: { error: { message: expect.stringContaining(words) } },
  });
  expect(compared.json).toMatchObject({ error: { message: expect.stringContaining('mappings.csv') } });
});
