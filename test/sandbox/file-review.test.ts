import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { parse } from 'csv-parse/sync';
import * as fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { readCsvRecords } from '../../src/sandbox/common/publish.js';
import { startSandbox } from '../../src/sandbox/sandbox.js';
import { patienceMs } from '../support/patience.js';
import {
  accepted,
  ask,
  bookingsOf,
  byFile,
  filePath,
  put,
  readOutbox,
  refused,
  type StartedSandbox,
  startedSandbox,
  waitForLine,
} from './started-sandbox.js';

const resultPath = filePath.replace('.csv', '_Result.csv');
const columns = [
  ...['Service Mappings Id', 'BookingReferenceId', 'BookingClientName', 'ProviderName', 'ProviderHotelId'],
  ...['CheckInDate', 'CheckOutDate'],
];
const header = columns.join(',');
type Cells = Readonly<Record<string, string>>;

/** A record with a correct mapping, with these changes. */
function cellsOf({ world }: StartedSandbox, changes: Cells = {}): Cells {
  const [id, reference, guest, provider, hotel] = Object.values(bookingsOf(world).right).map(String);
  const cells = [id, reference, guest, provider, hotel, '20112026', '22112026'];
  return { ...Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? ''])), ...changes };
}

/** A file with every cell quoted. */
function fileOf(records: readonly Cells[], lineEnd = '\n'): string {
  const lines = records.map((record) =>
    columns.map((column) => `"${record[column]?.replaceAll('"', '""')}"`).join(','),
  );
  return [header, ...lines, ''].join(lineEnd);
}

const review = (sandbox: StartedSandbox, path = filePath) =>
  ask(sandbox, `${byFile}?${new URLSearchParams({ ftpFilePath: path })}`).then(({ json }) => json);
const wrong = { ProviderHotelId: 'no such hotel' };
const resultOf = ({ sftp }: StartedSandbox) => readFile(join(sftp.root, resultPath), 'utf8');

it.each(['\n', '\r\n'])(
  'a result has the records as they were, each with its verdict, and an e-mail follows: line ends %j',
  async (lineEnd) => {
    const sandbox = await startedSandbox();
    const right = [
      {},
      { BookingClientName: 'García, Luis', BookingReferenceId: 'BR "7"' },
      { BookingClientName: '  Wang 伟 👩‍👩‍👧\t' },
      { BookingClientName: `Zoë${lineEnd}Brandt` },
      { BookingClientName: 'Nullmann', CheckInDate: '29022028' },
    ].map((changes) => cellsOf(sandbox, changes));
    const others = [wrong, { ProviderName: 'No such provider' }, { 'Service Mappings Id': '7' }].map(
      (changes) => cellsOf(sandbox, changes),
    );
    await put(sandbox, 'older', resultPath);
    await put(sandbox, fileOf([...right, ...others], lineEnd));
    expect(await review(sandbox, `/${filePath}`)).toEqual(accepted);
    // The file at the time of the call counts.
    await rm(join(sandbox.sftp.root, filePath));
    await waitForLine(sandbox, `${resultPath}: 8 rows, 3 wrongly mapped; e-mail: `);
    expect(sandbox.told[0]).toBe('call 1 by-file: 200 2000, 8 bookings accepted');
    const result = await resultOf(sandbox);
    expect(result.slice(0, result.indexOf('\n'))).toBe(`${header},IsCorrectMapping`);
    expect(parse(result, { columns: true })).toEqual([
      ...right.map((cells) => ({ ...cells, IsCorrectMapping: 'True' })),
      ...others.map((cells) => ({ ...cells, IsCorrectMapping: 'False' })),
    ]);
    expect((await stat(join(sandbox.sftp.root, resultPath))).mode & 0o777).toBe(0o600);
    const [email = '', ...more] = await readOutbox(sandbox);
    expect(more).toEqual([]);
    expect(email).toContain(`The review of ${filePath} found 3 bookings`);
    expect(email.match(/Stay: +2026-11-20 to 2026-11-22/g)).toHaveLength(3);
    expect(await readdir(join(sandbox.folder, '.sandbox-drafts'))).toEqual([]);
  },
);

it('The path of a file is one of a day, in the folder of its month', async () => {
  const sandbox = await startedSandbox();
  await put(sandbox, fileOf([cellsOf(sandbox)]));
  const form = 'expected VerifyMappings/MMYYYY/DDMMYYYY.csv';
  const ofDay = 'expected a calendar day in the folder of its month';
  for (const [statusCode, path, message] of [
    [2020, ' ', 'ftpFilePath is missing'],
    [2002, 'VerifyMappings/112026/../112026/20112026.csv', form],
    [2002, '//VerifyMappings/112026/20112026.csv', form],
    [2002, 'verifymappings/112026/20112026.csv', form],
    [2002, 'VerifyMappings/112026/20112026.CSV', form],
    [2002, 'VerifyMappings/112026/20112026_Result.csv', form],
    [2002, 'VerifyMappings/022026/30022026.csv', ofDay],
    [2002, 'VerifyMappings/102026/20112026.csv', ofDay],
    [2002, 'VerifyMappings/112025/20112026.csv', ofDay],
    [2002, 'VerifyMappings/112026/21112026.csv', 'there is no file "VerifyMappings/112026/21112026.csv"'],
  ] as const)
    expect([path, await review(sandbox, path)]).toEqual([
      ...[path, { ...refused(statusCode), Message: expect.stringContaining(message) }],
    ]);
});

const line = '1,BR-1,Ana,Sakura,1,20112026,21112026';
const present = 'all template columns are present, in exact case';
const blank = 'no cell is empty or white space only';
const asId = 'a service hotel id is an integer from 1 to 9007199254740991, digits only';
const asDay = 'a date is a calendar day as DDMMYYYY';
const long = 'a record has at most 1048576 bytes, and every quotation mark is closed';
const stray = 'a cell with a quotation mark is quoted, and the quotation marks inside it are doubled';
const cell = (column: string, text: string): [string, string] => {
  const cells = line.split(',').with(columns.indexOf(column), text);
  return [`${header}\n${line}\n${cells.join(',')}\n`, `column ${column}, line 3`];
};

/** What breaks a rule, where, and the rule. */
const broken: readonly (readonly [...(readonly [string | Uint8Array, string]), string])[] = [
  ...columns.map(
    (column) => [header.replace(column, column.toLowerCase()), `column ${column}, line 1`, present] as const,
  ),
  [`${header},ProviderName\n`, 'column ProviderName, line 1', 'each column is in the header once'],
  [`${header},Ana Núñez\n`, 'line 1', "no columns but the template's; cell 8 is not one of them"],
  ['', 'line 1', 'a file begins with the header'],
  [`\ufeff${header}\n${line}\n`, 'line 1', 'a file begins with the header, not with a byte order mark'],
  ...columns.map((column) => [...cell(column, '\u00a0'), blank] as const),
  ...columns.map((column) => [...cell(column, ' nULL '), 'no cell reads NULL, in any case'] as const),
  ...['0', '1.0', '007', '٣', '9007199254740992'].map(
    (id) => [...cell('Service Mappings Id', id), asId] as const,
  ),
  ...['2026-11-20', '30022026', '2112026', '20112026 '].map(
    (day) => [...cell('CheckInDate', day), asDay] as const,
  ),
  [...cell('CheckOutDate', '29022025'), asDay],
  [`${header}\n${line},more\n`, 'line 2', 'every line has as many cells as the header'],
  [`${header}\n${line}\n\n`, 'line 3', 'every line has as many cells as the header'],
  [
    `${header}\n"1","a\nb\nc",A,B,1,20112026,21112026\n1,2\n`,
    'line 5',
    'every line has as many cells as the header',
  ],
  [`${header}\n1,BR-1,Ana "S" N,B,1,20112026,21112026\n`, 'line 2', stray],
  [`${header}\n1,"Ana\n`, 'line 2', 'every quotation mark is closed'],
  [`${header}\n1,"Ana${'\nand so on'.repeat(200_000)}`, 'line 2', long],
  [`${header}\n1,${'x'.repeat(2 ** 21)}`, 'line 2', long],
  [
    Buffer.from(`${header}\n${line}\n1,BR-1,Björn,B,1,20112026,21112026\n`, 'latin1'),
    'line 3',
    'text is UTF-8',
  ],
];

it('2009 is the answer to a file that breaks a rule, which it names with the place', async () => {
  const sandbox = await startedSandbox({ faults: ['result-missing@1'] });
  for (const [content, where, rule] of broken) {
    await put(sandbox, content);
    expect(await review(sandbox)).toEqual({ ...refused(2009), Message: `${filePath}, ${where}: ${rule}` });
  }
  // Neither a result nor its fault is spent on it, and no draft is left.
  await put(sandbox, fileOf([cellsOf(sandbox)]));
  expect(await review(sandbox)).toEqual(accepted);
  await waitForLine(sandbox, `${resultPath}: never written (fault)`);
  const listDrafts = () => readdir(join(sandbox.folder, '.sandbox-drafts'));
  await vi.waitFor(async () => expect(await listDrafts()).toEqual([]), { timeout: patienceMs });
});

it('2021 is the answer to a file with only a header, whose columns may have any order', async () => {
  const sandbox = await startedSandbox();
  await put(sandbox, `${header}\n`);
  expect(await review(sandbox)).toEqual(refused(2021));
  const turned = columns.toReversed();
  await put(sandbox, `${turned.join(',')}\n${turned.map((column) => cellsOf(sandbox)[column]).join(',')}`);
  expect(await review(sandbox)).toEqual(accepted);
  await waitForLine(sandbox, ': 1 row, 0 wrongly mapped');
  expect(await readOutbox(sandbox)).toEqual([]);
});

it.each([
  ['result-partial@1', 3, 1],
  ['result-partial@1', 1, 0],
  ['result-late:0.05@1', 3, 3],
])('with %s, a result of %d records has %d, and the e-mail is about all', async (fault, rows, written) => {
  const sandbox = await startedSandbox({ faults: [fault] });
  await put(
    sandbox,
    fileOf(Array.from({ length: rows }, () => cellsOf(sandbox, { ...wrong, BookingClientName: 'A\nB' }))),
  );
  await review(sandbox);
  await waitForLine(sandbox, '_Result.csv: ');
  expect(parse(await resultOf(sandbox), { columns: true })).toHaveLength(written);
  expect((await resultOf(sandbox)).at(-1)).toBe('\n');
  expect((await readOutbox(sandbox))[0]).toContain(`found ${rows} booking`);
  expect(await readdir(join(sandbox.folder, '.sandbox-drafts'))).toEqual([]);
});

it('with result-missing neither result nor e-mail comes, an older one stays, and a later call gets its own', async () => {
  const sandbox = await startedSandbox({ faults: ['result-missing@1'] });
  await put(sandbox, 'older', resultPath);
  await put(sandbox, fileOf([cellsOf(sandbox, wrong)]));
  expect(await review(sandbox)).toEqual(accepted);
  await waitForLine(sandbox, 'never written (fault)');
  expect([await resultOf(sandbox), await readOutbox(sandbox)]).toEqual(['older', []]);
  await review(sandbox);
  await waitForLine(sandbox, ': 1 row, 1 wrongly mapped');
  expect(await readOutbox(sandbox)).toHaveLength(1);
});

it('closing abandons pending results and leaves no drafts, nor does a sandbox that was killed', async () => {
  const sandbox = await startedSandbox({ resultDelayMs: 3_600_000 });
  await put(sandbox, fileOf([cellsOf(sandbox)]));
  await review(sandbox);
  await sandbox.close();
  expect(sandbox.told).toContain(`${resultPath}: abandoned`);
  const drafts = join(sandbox.folder, '.sandbox-drafts');
  expect(await readdir(sandbox.folder)).not.toContain('.sandbox-drafts');
  await mkdir(drafts);
  await writeFile(join(drafts, '1.csv'), 'Ann Lee');
  const again = await startSandbox({ folder: sandbox.folder, clock: Date.now });
  expect(await readdir(sandbox.folder)).not.toContain('.sandbox-drafts');
  await again.close();
});

it('a disk that fails is reported without quoting anything, and the result stays without its e-mail', async () => {
  const sandbox = await startedSandbox();
  await put(sandbox, fileOf([cellsOf(sandbox, wrong)]));
  await rm(sandbox.outbox, { recursive: true });
  await writeFile(sandbox.outbox, '');
  await review(sandbox);
  await waitForLine(sandbox, `${resultPath}: no e-mail (EEXIST)`);
  await waitForLine(sandbox, ': 1 row, 1 wrongly mapped');
  expect(await resultOf(sandbox)).toContain('False');
  await rm(join(sandbox.sftp.root, resultPath));
  await mkdir(join(sandbox.sftp.root, resultPath));
  await review(sandbox);
  await waitForLine(sandbox, `${resultPath}: failed (EISDIR)`);
  await vi.waitUntil(async () => (await readdir(join(sandbox.folder, '.sandbox-drafts'))).length === 0, {
    timeout: patienceMs,
  });
  await rm(join(sandbox.folder, '.sandbox-drafts'), { recursive: true });
  await writeFile(join(sandbox.folder, '.sandbox-drafts'), '');
  expect(await review(sandbox)).toEqual({
    ...refused(2001),
    Message: "the file can't be reviewed now (EEXIST)",
  });
});

it("the sandbox's reader takes and refuses what another strict reader does, wherever the blocks end", async () => {
  async function* cutUp(text: string, sizes: readonly number[]): AsyncGenerator<Buffer> {
    let rest = Buffer.from(text);
    for (let at = 0; rest.length > 0; at += 1) {
      const size = (sizes[at] ?? 0) + 1;
      yield rest.subarray(0, size);
      rest = rest.subarray(size);
    }
  }
  const piece = fc.constantFrom('a', 'ü', '🏨', '"', ',', '\n', '\r\n', ' ', '""', '","');
  const sizes = fc.array(fc.nat({ max: 20 }), { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(fc.array(piece), sizes, async (pieces, cuts) => {
      const text = pieces.join('');
      const options = { record_delimiter: ['\r\n', '\n'], relax_column_count: true };
      const other = (() => {
        try {
          return parse(text, options);
        } catch {
          return 'refused';
        }
      })();
      const own = await Readable.from(readCsvRecords(cutUp(text, cuts)))
        .toArray()
        .catch(() => 'refused');
      expect(own).toEqual(other);
    }),
  );
});
