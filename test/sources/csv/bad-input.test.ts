import { execFileSync } from 'node:child_process';
import { appendFile, chmod, mkdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createCsvSource } from '../../../src/sources/csv/csv-source.js';
import { createLocalDayFile } from '../../../src/sources/files/day-file.js';
import { withoutPrivileges } from '../../support/machine.js';
import { masterIdOnly } from '../../support/source-columns.js';
import { day, summarise, useCsvFolder } from './csv-folder.js';
import { expectFault } from './expect-fault.js';

const { pathOf, readDay, readFile } = useCsvFolder();

describe('a record that cannot be read', () => {
  it.each([
    ['too few cells', '2', 'wrong-cell-count'],
    ['too many cells', '2,"x",', 'wrong-cell-count'],
    ['text after the closing quote', '2,"x"y', 'malformed-quotes'],
    ['a lone CR after the closing quote', '2,"x"\ry', 'malformed-quotes'],
    ['further quotes up to the line end', '2,"x"y,"z"",""', 'malformed-quotes'],
  ])('has %s: it is reported, and reading continues after its line', async (_, line, reason) => {
    // Broken quotes may even end the file; too few cells would mean that it is cut off.
    const end = reason === 'malformed-quotes' ? '' : '\n';
    const { records } = await readFile(`ServiceId,b\n1,"x"\n${line}\n3,"x"\n4,x\n${line}${end}`);
    expect(summarise(records)).toEqual(['2:1', `3!${reason}`, '4:3', '5:4', `6!${reason}`]);
  });

  it.each([1, 3, 1024])('is longer than the limit, read %i bytes at a time', async (blockBytes) => {
    const long = 'x'.repeat(99);
    const lines = [
      ...['ServiceId,b', `1,${long.slice(1)}`, `2,${long}`, `3,"${long}\n""\n,"`],
      ...[`4,"${long}" malformed too`, `5,"x"malformed too, ${long}`, '6,x'],
    ];
    const { records } = await readFile(lines.join('\r\n'), { recordLimit: 100, blockBytes });
    const tooLong = ['3', '4', '7', '8'].map((line) => `${line}!record-too-long`);
    expect(summarise(records)).toEqual(['2:1', ...tooLong, '9:6']);
  });

  it('is longer than 1 MB', async () => {
    const rows = [999_998, 999_999, 1].map((length) => `1,${'x'.repeat(length)}\n`);
    const { records } = await readFile(`ServiceId,b\n${rows.join('')}`);
    expect(summarise(records)).toEqual(['2:1', '3!record-too-long', '4:1']);
  });
});

describe('a CSV file that cannot be trusted as a whole', () => {
  it('is missing: the error names the path it looked for', async () => {
    const error = await expectFault(readDay({}, 'no/{day:ddMMyyyy}.csv'), 'missing', /no file/);
    expect(error.message).toContain(pathOf('no/20112026.csv'));
    await writeFile(pathOf('file'), '');
    await expectFault(readDay({}, 'file/{day}.csv'), 'missing', /no file/);
  });

  const path = () => pathOf('2026-11-20.csv');
  it.each<[string, RegExp, () => unknown]>([
    ['a folder', /2026-11-20\.csv is a folder, expected a file/, () => mkdir(path())],
    ['a device', /is a device, expected a file/, () => symlink('/dev/null', path())],
    // It does not wait for a writer.
    ['a FIFO', /is a FIFO, expected a file/, () => execFileSync('mkfifo', [path()])],
    ['a file that is not readable', /EACCES/, () => writeFile(path(), 'ServiceId\n', { mode: 0 })],
  ])('is %s', async (_, words, make) => {
    await chmod(pathOf('.'), 0o755);
    await make();
    await withoutPrivileges(() => expectFault(readDay(), 'unreadable', words));
  });

  it.each([
    ['zero bytes', Buffer.alloc(0)],
    ['zero bytes in gzip', gzipSync('')],
    ['a byte order mark alone', Buffer.from('\uFEFF')],
    ['line ends alone', Buffer.from('\n\r\n')],
  ])('is empty: %s', async (_, content) => {
    await expectFault(readFile(content), 'empty', /empty/);
  });

  const bad = (before: string, bytes: number[], after = '\n') =>
    Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)]);
  it.each([
    ['a NUL inside of quotes', bad('ServiceId,b\n5,"\n\n', [0], '"\n'), /line 4,/],
    ['a NUL in a record too long', bad(`ServiceId,b\n5,"\n${'x'.repeat(300)}\n`, [0], '"\n'), /line 4,/],
    ['Windows-1252', bad('ServiceId,b\n5,Jos', [0xe9], '\n6,x\n'), /line 2,/],
    ['a surrogate', bad('ServiceId\n', [0xed, 0xa0, 0x80]), /line 2,/],
    ['UTF-16 BE', Buffer.from('ServiceId\n5\n', 'utf16le').swap16(), /line 1,/],
    ['an archive', Buffer.from('504b0304140000000800', 'hex'), /is an Excel workbook or an archive: export/],
    [
      'an old workbook',
      Buffer.from('d0cf11e0a1b11ae1', 'hex'),
      /is an old Excel workbook: export the bookings/,
    ],
  ])('is binary: %s', async (_, content, words) => {
    for (const blockBytes of [1, 3, 4096])
      await expectFault(readFile(content, { blockBytes, recordLimit: 200 }), 'binary', words);
  });

  it('ends inside quotes: the error names the line where the record begins', async () => {
    const content = 'ServiceId,b\n1,"x\ny"\n2,"Canary\n3,x\n4,x\n';
    for (const blockBytes of [1, 4096])
      for (const recordLimit of [14, 1000])
        await expectFault(readFile(content, { blockBytes, recordLimit }), 'unterminated-quote', /line 4:/);
  });

  it.each<[string, string, string, RegExp]>([
    ['inside quotes', '2026-11-24', '2,"Cana', /inside quotes/],
    ['in a cell that is not the last', '2026-11-24', '2,Cana', /2 of 3 cells/],
    ['in a quoted cell that is not the last', '2026-11-24', '2,"Canary"', /2 of 3 cells/],
    ['in a date', '2026-11-24', '2,Canary,2026-1', /half a date/],
    ['in a date of digits', '24112026', '2,Canary,241120', /half a date/],
    ['in a date with slashes', '11/24/2026', '2,Canary,11/2', /half a date/],
    ['below a row of empty cells', '2026-11-24\n,,', '2,Canary,2026-1', /line 4: .*half a date/],
    ['in a record too long', '2026-11-24', `2,${'x'.repeat(30)}`, /record-too-long/],
    ['in a character', '2026-11-24', '2,\xe2\x82', /half a character/],
  ])('is cut off %s: the error names the line, and quotes nothing of it', async (_, date, last, words) => {
    for (const column of ['CheckOutDate', 'Booked']) {
      const content = Buffer.from(`ServiceId,b,${column}\n1,x,${date}\n${last}`, 'latin1');
      for (const blockBytes of [1, 4096]) {
        const reading = readFile(content, { blockBytes, recordLimit: 30 });
        const error = await expectFault(reading, 'truncated', words);
        expect(error.message).toMatch(/line [34]: /);
        expect(error.message).not.toContain('Cana');
      }
    }
  });

  it.each([
    ['no line end', '2,Canary,2026-11-25'],
    ['an empty date in quotes', '2,"Canary",""'],
    ['a word for no date', '2,Canary,-'],
    ['another form of date', '2,Canary,25.11.2026'],
    ['too many cells', '2,Canary,2026-11-25,x'],
    ['half a line end', '2,Canary,2026-11-25\r'],
    ['empty cells', '2,Canary,2026-11-25\n ,,'],
  ])('may end with %s', async (_, last) => {
    const { records } = await readFile(`ServiceId,b,CheckOutDate\n1,x,2026-11-24\n${last}`);
    expect(records).toHaveLength(2);
  });

  it.each([
    ['a shorter id of digits', 'ProviderHotelId', '10203040', '1020304'],
    ['an id that is written like a date', 'ProviderHotelId', '10-10-2026', '10'],
    ['a shorter number in a column that is not read', 'Phone', '63112233', '631'],
  ])('may end with %s', async (_, column, other, last) => {
    const { records } = await readFile(`ServiceId,b,${column}\n1,x,${other}\n2,y,${last}`);
    expect(records).toHaveLength(2);
  });

  it('has a header that cannot be read', async () => {
    const header = '"ServiceId"Canary,b\n1,x\n';
    await expectFault(readFile(header), 'unreadable', /line 1: the header .*malformed-quotes/);
    await expectFault(
      readFile('ServiceId,b\n', { recordLimit: 5 }),
      'unreadable',
      /header .*record-too-long/,
    );
  });

  it('is truncated or damaged gzip: always an error, never a short day', async () => {
    const first = gzipSync('ServiceId,b\n1,x\n');
    const whole = Buffer.concat([first, gzipSync('2,y\n')]);
    for (let length = 2; length < whole.length; length++)
      if (length !== first.length)
        await expectFault(readFile(whole.subarray(0, length)), 'truncated', /cut off or damaged/);
    await expectFault(readFile(Buffer.concat([first, Buffer.from('2\n3\n')])), 'truncated', /damaged/);
    first.writeUInt32LE(7, first.length - 8);
    await expectFault(readFile(first), 'truncated', /cut off or damaged/);
  });

  it.each([
    ['shrinks', (path: string) => truncate(path, 50_000)],
    ['grows', (path: string) => appendFile(path, '6\n')],
  ])('%s while it is read', async (_, change) => {
    await writeFile(path(), `ServiceId\n${'5\n'.repeat(100_000)}`);
    const file = createLocalDayFile(path());
    const source = createCsvSource({ file, columns: masterIdOnly, blockBytes: 4096 });
    const reading = (async () => {
      let chunks = 0;
      for await (const _ of source.read(day, { signal: new AbortController().signal })) {
        chunks += 1;
        if (chunks === 1) await change(path());
      }
    })();
    await expectFault(reading, 'truncated', /changed while/);
  });
});
