import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createDayFolder, day } from '../support/day-folder.js';
import { refusal, type StandInAnswer, startStandIn } from '../support/http-stand-in.js';
import { bookingsHeader } from '../support/made-bookings.js';
import { mappingsAnswer } from '../support/mappings-answer.js';

/** What a terminal, or its reader, would act on: a window title, a cleared line, a colour, text that runs backwards. */
const active =
  '\u001B]0;owned\u0007\u001B[2K\r\u001B[32m\u009B31m\u007F\u202Esdeeccus\u2066\u2028\nforged line';
/** A person types no line break, and a script that passes one on forges only its own output. */
const typed = active.replace('\n', '');
const escapes = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u;
/** Everything but the line breaks, which the commands write themselves. */
const expectPlain = (text: string) => {
  expect(escapes.exec(text.replaceAll('\n', ''))?.[0]).toBeUndefined();
  expect(text).not.toMatch(/^forged line/m);
};

const formulas = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', 'a;=1+1', ' =1'];
const brands = [
  { Id: 1, BrandCode: 'AX', BrandName: `Axel${active}`, ChainId: -9 },
  ...formulas.map((formula, index) => ({ Id: index + 2, BrandCode: 'F', BrandName: formula, ChainId: 0 })),
];

async function prepare() {
  const provider = `Evil${active}`;
  const mappings = mappingsAnswer([
    { ServiceId: 1, ProviderName: provider, ProviderHotelId: `=1${active}`, ProviderLocationCode: active },
  ]);
  const service = await startStandIn(async (request): Promise<StandInAnswer> => {
    if (request.url.endsWith('/GetMasterHotelBrands'))
      return { kind: 'json', body: { HotelBrands: brands, Status: true, Message: 'ok', StatusCode: 2000 } };
    if (request.url.includes('ReviewMappings')) return refusal(2009, `no${active}`);
    return mappings;
  });
  onTestFinished(() => service.close());
  const rows = [
    `1,"${active.replace('"', '')}",2026-12-01,2026-12-02,"Evil\u202E\u009B","=1\u2066","Anna"`,
    `1,"",2026-12-01,2026-12-02,Expedia,7,Anna`,
    `"${active}",BR-2,2026-12-01,2026-12-02,Expedia,7,Anna`,
    `=1+1,BR-3,2026-12-01,2026-12-02,Expedia,7,Anna`,
    ...formulas.slice(0, 4).map((formula) => `1,${formula}4,2026-12-01,2026-12-02,${formula},8,Anna`),
  ];
  const columns =
    'ServiceId,BookingReferenceId,CheckInDate,CheckOutDate,ProviderName,ProviderHotelId,BookingClientName';
  expect(bookingsHeader.split(',').sort()).toEqual(columns.split(',').sort());
  const folder = await createDayFolder({
    baseUrl: service.baseUrl,
    bookings: `${columns}\n${rows.join('\n')}\n`,
    settings: { retry: { tries: 1 }, maxRejectedShare: 1 },
  });
  return { folder, provider };
}

describe('untrusted text', () => {
  it('never acts on a terminal, as text, as JSON or as a log line', async () => {
    const { folder, provider } = await prepare();
    const commands = [
      ['mappings', 'sync'],
      ['mappings', 'stats'],
      ['mappings', 'show', provider, `=1${active}`],
      ['mappings', 'show', `${active}`, 'x'],
      ['brands'],
      ['run', '--day', day],
      ['run', '--day', day, '--log-level', 'trace', '--stack-trace'],
      ['status'],
      ['status', day],
      ['rejected', day],
      ['affected', day],
      ['suspects', day],
      ['audit'],
      ['privacy'],
      ['run', '--dry-run', '--day', day],
      ['doctor', '--day', day],
      ['show', active],
      ['show', active, '--answers'],
      ['guest', 'export', active],
      [`--${typed}`],
      [typed],
      ['status', '--config', `${typed}.yaml`],
      ['sandbox', 'bookings', '--day', typed],
    ];
    for (const args of commands)
      for (const json of [[], ['--json']]) {
        const { stdout, stderr } = await folder.run([...args, ...json]);
        expectPlain(stdout);
        expectPlain(stderr);
      }
    const { json } = await folder.run(['brands', '--json']);
    expect(json).toEqual(brands);
  });

  it('never acts as a formula in a file for people, but stays as it is in files for programs', async () => {
    const { folder } = await prepare();
    await folder.run(['mappings', 'sync']);
    await folder.run(['run', '--day', day, '--json']);
    await folder.run(['brands', '--csv', 'brands.csv']);
    await folder.run(['rejected', day, '--csv', 'rejected.csv']);
    await folder.run(['run', '--day', day, '--dry-run', '--out', 'out']);
    const files = ['brands.csv', 'rejected.csv', 'out/rejected.csv'];
    for (const name of files) {
      const text = await readFile(join(folder.path, name), 'utf8');
      const cells = parse(text, { bom: true }).flat() as string[];
      expect(cells.filter((cell) => /(?:^|[;\n\t\r])\s*[=+@]|^-(?!9$)/.test(cell))).toEqual([]);
      expect(cells).toContain("'=1+1");
    }
    const brandCells = parse(await readFile(join(folder.path, 'brands.csv'), 'utf8'), { bom: true }).flat();
    expect(brandCells).toContain('-9');
    const [body] = (await readdir(join(folder.path, 'out'))).filter(
      (name) => name !== 'SHA256SUMS' && name !== 'rejected.csv',
    );
    expect(await readFile(join(folder.path, 'out', body ?? ''), 'utf8')).toContain('"=1"');
  });
});
