import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readCsvRecords } from '../../src/sandbox/common/publish.js';
import {
  type Cells,
  filePath,
  openReviewedFiles,
  type ReviewedFiles,
  templateColumns,
  writeFileOf,
} from './reviewed-files.js';

/** The answer to a call for a file with this content. */
async function answerTo(content: (files: ReviewedFiles) => string | Uint8Array): Promise<unknown> {
  const files = await openReviewedFiles();
  await files.put(content(files));
  return files.review.accept(filePath);
}

/** The answer for a file whose second record has these changes. */
const answerToCells = (changes: Partial<Cells>) =>
  answerTo((files) => writeFileOf([files.cells(), files.cells(changes)]));

const header = templateColumns.join(',');
const taken = (rows: number) => ({ kind: 'accepted', rows });
const refused = (statusCode: number, message: string) => ({ kind: 'refusal', statusCode, message });
const broken = (where: string, rule: string) => refused(2009, `${filePath}, ${where}: ${rule}`);

describe('the path of a by-file call', () => {
  it.each([undefined, '', '   '])('counts as missing when it is %j', async (path) => {
    const { review } = await openReviewedFiles();
    expect(await review.accept(path)).toEqual(
      refused(2020, 'ftpFilePath is missing: expected the path of the uploaded file'),
    );
  });

  it.each([filePath, `/${filePath}`])('names a file below the SFTP root: %s', async (path) => {
    const files = await openReviewedFiles();
    await files.put(writeFileOf([files.cells()]));
    expect(await files.review.accept(path)).toEqual(taken(1));
  });

  it.each([
    ['that goes up', 'VerifyMappings/112026/../112026/20112026.csv'],
    ['that leaves the root', '../sftp/VerifyMappings/112026/20112026.csv'],
    ['with two leading slashes', '//VerifyMappings/112026/20112026.csv'],
    ['on the local disk', '/tmp/VerifyMappings/112026/20112026.csv'],
    ['in other case', 'verifymappings/112026/20112026.csv'],
    ['with another extension', 'VerifyMappings/112026/20112026.txt'],
    ['with its extension in other case', 'VerifyMappings/112026/20112026.CSV'],
    ['without an extension', 'VerifyMappings/112026/20112026'],
    ['followed by a line end', 'VerifyMappings/112026/20112026.csv\n'],
    ['of a result', 'VerifyMappings/112026/20112026_Result.csv'],
    ['with another date format', 'VerifyMappings/112026/2026-11-20.csv'],
    ['with backslashes', 'VerifyMappings\\112026\\20112026.csv'],
  ])('is refused in another form: one %s', async (_, path) => {
    const files = await openReviewedFiles();
    await files.put(writeFileOf([files.cells()]));
    expect(await files.review.accept(path)).toEqual(
      refused(
        2002,
        'ftpFilePath: expected VerifyMappings/MMYYYY/DDMMYYYY.csv, relative to the SFTP root, ' +
          `got: ${JSON.stringify(path)}`,
      ),
    );
  });

  it.each([
    ['a day that does not exist', 'VerifyMappings/022026/30022026.csv'],
    ['the folder of another month', 'VerifyMappings/102026/20112026.csv'],
    ['the folder of another year', 'VerifyMappings/112025/20112026.csv'],
  ])('is refused with %s', async (_, path) => {
    const files = await openReviewedFiles();
    await files.put(writeFileOf([files.cells()]), path);
    expect(await files.review.accept(path)).toEqual(
      refused(2002, `ftpFilePath: expected a calendar day in the folder of its month, got: "${path}"`),
    );
  });

  const absent = refused(2002, `ftpFilePath: there is no file "${filePath}" on the SFTP server`);

  it('is refused when there is no file', async () => {
    const { review } = await openReviewedFiles();
    expect(await review.accept(filePath)).toEqual(absent);
  });

  it('is refused when there is a folder', async () => {
    const { review, root } = await openReviewedFiles();
    await mkdir(join(root, filePath), { recursive: true });
    expect(await review.accept(filePath)).toEqual(absent);
  });
});

describe('the header of a review file', () => {
  it.each(templateColumns)('requires the column %s', async (column) => {
    const without = templateColumns.filter((name) => name !== column).join(',');
    expect(await answerTo(() => `${without}\n`)).toEqual(
      broken(`column ${column}, line 1`, 'all template columns are present, in exact case'),
    );
  });

  it('has its columns in exact case', async () => {
    expect(await answerTo(() => `${header.replace('ProviderName', 'Providername')}\n`)).toEqual(
      broken('column ProviderName, line 1', 'all template columns are present, in exact case'),
    );
  });

  it('allows no other columns, and the message does not quote them', async () => {
    expect(await answerTo(() => `${header},Ana Núñez\n`)).toEqual(
      broken('line 1', "no columns but the template's; cell 8 is not one of them"),
    );
  });

  it('has each column once', async () => {
    expect(await answerTo(() => `${header},ProviderName\n`)).toEqual(
      broken('column ProviderName, line 1', 'each column is in the header once'),
    );
  });

  it('may have the columns in any order', async () => {
    const files = await openReviewedFiles();
    const cells = files.cells();
    const turned = templateColumns.toReversed();
    await files.put(`${turned.join(',')}\n${turned.map((column) => cells[column]).join(',')}\n`);
    expect(await files.review.accept(filePath)).toEqual(taken(1));
    await files.waitForLines();
    expect(files.told).toEqual([expect.stringContaining(': 1 row, 0 wrongly mapped')]);
  });

  it('without records is refused as a file without booked hotels', async () => {
    expect(await answerTo(() => `${header}\n`)).toEqual(
      refused(2021, `${filePath}: only a header, no booked hotels`),
    );
  });

  it('is required: an empty file is refused', async () => {
    expect(await answerTo(() => '')).toEqual(broken('line 1', 'a file begins with the header'));
  });

  it('must come first, without a byte order mark', async () => {
    expect(await answerTo((files) => `\ufeff${writeFileOf([files.cells()])}`)).toEqual(
      broken('line 1', 'a file begins with the header, not with a byte order mark'),
    );
  });
});

describe('the records of a review file', () => {
  it.each(templateColumns.flatMap((column) => ['', ' ', '\t', '\u00a0\u3000'].map((cell) => [column, cell])))(
    'leave no cell blank: %s as %j',
    async (column, cell) => {
      expect(await answerToCells({ [column]: cell })).toEqual(
        broken(`column ${column}, line 3`, 'no cell is empty or white space only'),
      );
    },
  );

  it.each(
    templateColumns.flatMap((column) => ['NULL', 'null', 'Null', ' nULL '].map((cell) => [column, cell])),
  )('have no cell that reads NULL: %s as %j', async (column, cell) => {
    expect(await answerToCells({ [column]: cell })).toEqual(
      broken(`column ${column}, line 3`, 'no cell reads NULL, in any case'),
    );
  });

  it('may have a name that only starts with null', async () => {
    expect(await answerToCells({ BookingClientName: 'Nullmann' })).toEqual(taken(2));
  });

  it.each([
    '0',
    '-1',
    '+1',
    '1.0',
    '1e3',
    '007',
    ' 100000',
    '٣',
    'abc',
    '9007199254740992',
    '99999999999999999',
  ])('have a whole number as the service hotel id, not %j', async (cell) => {
    expect(await answerToCells({ 'Service Mappings Id': cell })).toEqual(
      broken(
        'column Service Mappings Id, line 3',
        'a service hotel id is an integer from 1 to 9007199254740991, digits only',
      ),
    );
  });

  it.each(['1', '9007199254740991'])('may have the service hotel id %s', async (cell) => {
    expect(await answerToCells({ 'Service Mappings Id': cell })).toEqual(taken(2));
  });

  it.each(
    (['CheckInDate', 'CheckOutDate'] as const).flatMap((column) =>
      ['2026-11-20', '30022026', '29022025', '00112026', '20132026', '2112026', '20112026 ', '11202026'].map(
        (cell) => [column, cell] as const,
      ),
    ),
  )('have existing calendar days as dates: no %s of %j', async (column, cell) => {
    expect(await answerToCells({ [column]: cell })).toEqual(
      broken(`column ${column}, line 3`, 'a date is a calendar day as DDMMYYYY'),
    );
  });

  it('may have the 29th of February', async () => {
    expect(await answerToCells({ CheckInDate: '29022028' })).toEqual(taken(2));
  });

  it.each([
    ['fewer', '1,2,3'],
    ['more', '1,BR-1,Ana,NorthStar,00010000,20112026,21112026,more'],
    ['no', ''],
  ])('have as many cells as the header, not %s', async (_, line) => {
    expect(await answerTo((files) => `${writeFileOf([files.cells()])}${line}\n`)).toEqual(
      broken('line 3', 'every line has as many cells as the header'),
    );
  });

  it('are separated by commas', async () => {
    expect(await answerTo((files) => writeFileOf([files.cells()]).replaceAll(',', ';'))).toMatchObject({
      statusCode: 2009,
    });
  });

  it.each([
    ['within a cell', '1,BR-1,Ana "Z" Brandt,NorthStar,00010000,20112026,21112026'],
    ['after a closed cell', '1,BR-1,"Ana"Z,NorthStar,00010000,20112026,21112026'],
  ])('have no stray quotation mark %s', async (_, line) => {
    expect(await answerTo((files) => `${writeFileOf([files.cells()])}${line}\n`)).toEqual(
      broken(
        'line 3',
        'a cell with a quotation mark is quoted, and the quotation marks inside it are doubled',
      ),
    );
  });

  it('close every quotation mark', async () => {
    expect(await answerTo((files) => `${writeFileOf([files.cells()])}1,"BR-1,Ana\n`)).toEqual(
      broken('line 3', 'every quotation mark is closed'),
    );
  });

  const tooLong = 'a record has at most 1048576 bytes, and every quotation mark is closed';

  it('are limited in length: an open quotation mark is refused after a million bytes', async () => {
    const endless = `1,"BR-1${'\nand so on'.repeat(200_000)}`;
    expect(await answerTo((files) => `${writeFileOf([files.cells()])}${endless}`)).toEqual(
      broken('line 3', tooLong),
    );
  });

  it('are limited in length: a line of a million bytes is refused', async () => {
    const endless = `1,BR-1${'x'.repeat(2 ** 21)}`;
    expect(await answerTo((files) => `${writeFileOf([files.cells()])}${endless}`)).toEqual(
      broken('line 3', tooLong),
    );
  });

  it('are limited in length: an endless line is not read further', async () => {
    let given = 0;
    async function* endless(): AsyncGenerator<Buffer> {
      for (; given < 64; given += 1) yield Buffer.alloc(2 ** 18, 'x');
    }
    const records = readCsvRecords(endless());
    await expect(records.next()).rejects.toThrow('endless-record');
    expect(given).toBeLessThan(8);
  });

  it('are UTF-8; otherwise the message names the line', async () => {
    const answer = await answerTo((files) =>
      Buffer.concat([
        Buffer.from(writeFileOf(Array.from({ length: 3_000 }, () => files.cells()))),
        Buffer.from('1,BR-1,Björn,NorthStar,00010000,20112026,21112026\n', 'latin1'),
      ]),
    );
    expect(answer).toEqual(broken('line 3002', 'text is UTF-8'));
  });

  it('are UTF-8 to the last byte', async () => {
    const answer = await answerTo((files) =>
      Buffer.concat([Buffer.from(writeFileOf([files.cells()])), Buffer.from('1,BR-1,東').subarray(0, -1)]),
    );
    expect(answer).toEqual(broken('line 3', 'text is UTF-8'));
  });

  it.each(['\n', '\r\n'])('may end with %j, and the last one without a line end', async (lineEnd) => {
    const answer = await answerTo((files) =>
      writeFileOf([files.cells(), files.cells()], lineEnd).slice(0, -lineEnd.length),
    );
    expect(answer).toEqual(taken(2));
  });

  it.each(['\n', '\r\n'])(
    'are located by line, counting line ends inside cells, with %j',
    async (lineEnd) => {
      const answer = await answerTo((files) =>
        writeFileOf(
          [
            files.cells({ BookingClientName: `Ana${lineEnd}de${lineEnd}Núñez` }),
            files.cells({ ProviderName: 'null' }),
          ],
          lineEnd,
        ),
      );
      expect(answer).toEqual(broken('column ProviderName, line 5', 'no cell reads NULL, in any case'));
    },
  );

  it('are refused for the first fault of several', async () => {
    const answer = await answerTo(
      (files) =>
        `${writeFileOf([files.cells({ ProviderName: ' ' }), files.cells({ CheckInDate: 'x' })])}1,2\n`,
    );
    expect(answer).toEqual(broken('column ProviderName, line 2', 'no cell is empty or white space only'));
  });

  it('are never quoted, only located', async () => {
    const guest = 'Siobhán';
    const spoilt = [
      `1,BR-1,${guest} "S",x`,
      `1,BR-1,"${guest}"S,x`,
      `1,"${guest}`,
      `${guest},2`,
      `"${guest}`,
    ];
    for (const line of spoilt) {
      const answer = await answerTo((files) => `${writeFileOf([files.cells()])}${line}\n`);
      expect(answer).toMatchObject({ statusCode: 2009 });
      expect(JSON.stringify(answer)).not.toContain(guest);
    }
  });
});

it('a refused file leaves nothing behind and has no result', async () => {
  const files = await openReviewedFiles({ faults: ['result-missing@1'] });
  await files.put(writeFileOf([files.cells({ ProviderName: 'null' })]));
  expect(await files.review.accept(filePath)).toMatchObject({ kind: 'refusal' });
  // The plan was not consulted, so the fault of the first result hits the first accepted file.
  await files.put(writeFileOf([files.cells()]));
  expect(await files.review.accept(filePath)).toEqual(taken(1));
  await files.waitForLines();
  expect(await files.list()).toEqual(['20112026.csv']);
  expect(files.told).toEqual([expect.stringContaining('never written (fault)')]);
});
