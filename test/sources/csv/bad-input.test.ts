import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, chmod, mkdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createCsvSource } from '../../../src/sources/csv/csv-source.js';
import { createLocalDayFile } from '../../../src/sources/files/day-file.js';
import { masterIdOnly } from '../../support/source-columns.js';
import { canCountDescriptors, countDescriptors } from '../files/open-descriptors.js';
import { day, summarise, useCsvFolder } from './csv-folder.js';
import { expectFault } from './expect-fault.js';

const { pathOf, readDay, readFile } = useCsvFolder();

/** Root can read every file, so the work runs as another user. */
async function withoutPrivileges(work: () => Promise<unknown>): Promise<void> {
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) await chmod(pathOf('.'), 0o755);
  if (isRoot) process.seteuid?.(65_534);
  try {
    await work();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}

describe('a record that cannot be read', () => {
  it('has the wrong number of cells: it is reported in its place, and reading continues', async () => {
    const { records } = await readFile('ServiceId,b\n1,x\n2\n3,x,y\n4,x\n5,"x",\n');
    expect(summarise(records)).toEqual([
      '2:1',
      '3!wrong-cell-count',
      '4!wrong-cell-count',
      '5:4',
      '6!wrong-cell-count',
    ]);
  });

  it.each([
    ['text after the closing quote', '2,"x"y\n'],
    ['a space after the closing quote', '2,"x" \n'],
    ['a lone CR after the closing quote', '2,"x"\ry\n'],
    ['CR CR LF after the closing quote', '2,"x"\r\r\n'],
    ['a quote that opens again', '2,"x"y"z"\n'],
    ['further quotes up to the line end', '2,"x"y,"z"",""\n'],
  ])('has %s: it is reported, and reading continues after its line', async (_, line) => {
    const { records } = await readFile(`ServiceId,b\n1,"x"\n${line}3,"x"\n4,x\n`);
    expect(summarise(records)).toEqual(['2:1', '3!malformed-quotes', '4:3', '5:4']);
  });

  it('ends malformed with the file', async () => {
    expect(summarise((await readFile('ServiceId,b\n1,x\n2,"x"y')).records)).toEqual([
      '2:1',
      '3!malformed-quotes',
    ]);
  });

  it.each([1, 3, 64, 1024])('is longer than the limit, read %i bytes at a time', async (blockBytes) => {
    const long = 'x'.repeat(99);
    const { records } = await readFile(
      [
        'ServiceId,b',
        `1,${long.slice(1)}`,
        `2,${long}`,
        `3,"${long}\n""\n,"`,
        `4,"${long}" malformed too`,
        `5,"x"malformed too, ${long}`,
        '6,x',
      ].join('\r\n'),
      { recordLimit: 100, blockBytes },
    );
    expect(summarise(records)).toEqual([
      '2:1',
      '3!record-too-long',
      '4!record-too-long',
      '7!record-too-long',
      '8!record-too-long',
      '9:6',
    ]);
  });

  it('is longer than 1 MB', async () => {
    const { records } = await readFile(
      `ServiceId,b\n1,${'x'.repeat(999_998)}\n2,${'x'.repeat(999_999)}\n3,x\n`,
    );
    expect(summarise(records)).toEqual(['2:1', '3!record-too-long', '4:3']);
  });
});

describe('a CSV file that cannot be trusted as a whole', () => {
  it('is missing: the error names the path it looked for', async () => {
    const error = await expectFault(readDay({}, 'no/{day:ddMMyyyy}.csv'), 'missing', /no file/);
    expect(error.message).toContain(pathOf('no/20112026.csv'));
    await writeFile(pathOf('file'), '');
    await expectFault(readDay({}, 'file/{day}.csv'), 'missing', /no file/);
  });

  it('is a folder', async () => {
    await mkdir(pathOf('2026-11-20.csv'));
    await expectFault(readDay(), 'unreadable', /2026-11-20\.csv is a folder, expected a file/);
    if (canCountDescriptors) expect(await countDescriptors(pathOf('2026-11-20.csv'))).toBe(0);
  });

  it('is a device', async () => {
    await symlink('/dev/null', pathOf('2026-11-20.csv'));
    await expectFault(readDay(), 'unreadable', /2026-11-20\.csv is a device, expected a file/);
  });

  it('is a FIFO, even through a link: it does not wait for a writer', async () => {
    execFileSync('mkfifo', [pathOf('2026-11-20.csv')]);
    await symlink(pathOf('2026-11-20.csv'), pathOf('link.csv'));
    for (const template of ['{day}.csv', 'link.csv'])
      await expectFault(readDay({}, template), 'unreadable', /\.csv is a FIFO, expected a file/);
  });

  it('is a socket', async () => {
    const server = createServer().listen(pathOf('2026-11-20.csv'));
    await once(server, 'listening');
    await expectFault(readDay(), 'unreadable', /2026-11-20\.csv is a socket, expected a file/);
    server.close();
  });

  it('is not even opened if the signal has already aborted', async () => {
    const reason = new Error('stopped by hand');
    const source = createCsvSource({ file: createLocalDayFile(pathOf('no.csv')) });
    const reading = source.read(day, { signal: AbortSignal.abort(reason) })[Symbol.asyncIterator]();
    await expect(reading.next()).rejects.toBe(reason);
  });

  it('is not readable', async () => {
    await writeFile(pathOf('2026-11-20.csv'), 'ServiceId\n');
    await chmod(pathOf('2026-11-20.csv'), 0);
    await withoutPrivileges(() => expectFault(readDay(), 'unreadable', /EACCES/));
  });

  it('is a path that the system rejects', async () => {
    await expectFault(readDay({}, `${'x'.repeat(300)}.csv`), 'unreadable', /ENAMETOOLONG/);
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
    ['a NUL', bad('ServiceId\n5\n6', [0]), 3],
    ['a NUL inside of quotes', bad('ServiceId,b\n5,"\n\n', [0], '"\n'), 4],
    ['a NUL in a record too long', bad(`ServiceId,b\n5,"\n${'x'.repeat(300)}\n`, [0], '"\n'), 4],
    ['Windows-1252', bad('ServiceId,b\n5,Jos', [0xe9], '\n6,x\n'), 2],
    ['an overlong form', bad('ServiceId\n', [0xc0, 0x80]), 2],
    ['a surrogate', bad('ServiceId\n', [0xed, 0xa0, 0x80]), 2],
    ['UTF-16 LE', Buffer.from('ServiceId\n5\n', 'utf16le'), 1],
    ['UTF-16 BE', Buffer.from('ServiceId\n5\n', 'utf16le').swap16(), 1],
  ])('is binary: %s, and the error names the line', async (_, content, line) => {
    for (const blockBytes of [1, 2, 3, 5, 64, 4096]) {
      await expectFault(
        readFile(content, { blockBytes, recordLimit: 200 }),
        'binary',
        new RegExp(`line ${line},`),
      );
    }
  });

  it('ends inside quotes: the error names the line where the record begins', async () => {
    const content = 'ServiceId,b\n1,"x\ny"\n2,"Canary\n3,x\n4,x\n';
    for (const blockBytes of [1, 5, 4096]) {
      await expectFault(readFile(content, { blockBytes }), 'unterminated-quote', /line 4:/);
      await expectFault(readFile(content, { blockBytes, recordLimit: 14 }), 'unterminated-quote', /line 4:/);
    }
  });

  it.each([
    ['inside quotes', '2,"Cana', /line 3: .*inside quotes/],
    ['in a cell that is not the last', '2,Cana', /line 3: .*2 of 3 cells/],
    ['in a quoted cell that is not the last', '2,"Canary"', /line 3: .*2 of 3 cells/],
    ['in a date', '2,Canary,2026-1', /line 3: .*half a date/],
    ['in a record too long', `2,${'x'.repeat(30)}`, /line 3: .*record-too-long/],
    ['in a character', Buffer.from([0x32, 0x2c, 0xe2, 0x82]), /line 3: .*half a character/],
  ])('is cut off %s: the error names the line, and quotes nothing of it', async (_, last, message) => {
    const content = Buffer.concat([
      Buffer.from('ServiceId,b,CheckOutDate\n1,x,2026-11-24\n'),
      Buffer.from(last),
    ]);
    for (const blockBytes of [1, 5, 4096]) {
      const error = await expectFault(
        readFile(content, { blockBytes, recordLimit: 30 }),
        'truncated',
        message,
      );
      expect(error.message).not.toContain('Cana');
    }
  });

  it('is cut off in a date below a row of empty cells', async () => {
    for (const blockBytes of [1, 4096])
      for (const quoted of ['1,x', '1,"x"'])
        await expectFault(
          readFile(`ServiceId,b,CheckOutDate\n${quoted},2026-11-24\n,,\n2,Canary,2026-1`, { blockBytes }),
          'truncated',
          /line 4: .*half a date/,
        );
  });

  it.each([',,', ' , ,', ',', ',,,,'])('may end with empty cells and no line end: %j', async (last) => {
    const { records } = await readFile(`ServiceId,b,CheckOutDate\n1,x,2026-11-24\n${last}`);
    expect(records).toHaveLength(1);
  });

  it.each([
    ['no line end', '2,Canary,2026-11-25'],
    ['an empty date', '2,Canary,'],
    ['an empty date in quotes', '2,"Canary",""'],
    ['a blank date', '2,Canary, '],
    ['a word for no date', '2,Canary,-'],
    ['another form of date', '2,Canary,25.11.2026'],
    ['too many cells', '2,Canary,2026-11-25,x'],
    ['half a line end', '2,Canary,2026-11-25\r'],
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

  it.each([
    ['20261124', '202611'],
    ['24112026', '241120'],
    ['11/24/2026', '11/2'],
  ])('is cut off in a date such as %s, also in a column that is not read', async (other, last) => {
    for (const column of ['CheckOutDate', 'Booked'])
      await expectFault(
        readFile(`ServiceId,b,${column}\n1,x,${other}\n2,y,${last}`),
        'truncated',
        /line 3: .*half a date/,
      );
  });

  it.each([
    ['504b0304140000000800', /is an Excel workbook or an archive: export the bookings as CSV/],
    ['d0cf11e0a1b11ae1', /is an old Excel workbook: export the bookings as CSV/],
  ])('is a container (%s)', async (hex, message) => {
    for (const blockBytes of [1, 4096]) {
      for (const encoding of ['utf-8', 'windows-1252'] as const)
        await expectFault(readFile(Buffer.from(hex, 'hex'), { blockBytes, encoding }), 'binary', message);
    }
  });

  it('has a header that cannot be read', async () => {
    await expectFault(
      readFile('"ServiceId"Canary,b\n1,x\n'),
      'unreadable',
      /line 1: the header .*malformed-quotes/,
    );
    await expectFault(
      readFile('ServiceId,b\n', { recordLimit: 5 }),
      'unreadable',
      /header .*record-too-long/,
    );
  });

  it('is truncated gzip: always an error, never a short day', async () => {
    const whole = Buffer.concat([gzipSync('ServiceId,b\n1,x\n'), gzipSync('2,y\n')]);
    const betweenTheMembers = gzipSync('ServiceId,b\n1,x\n').length;
    for (let length = 2; length < whole.length; length++) {
      if (length === betweenTheMembers) continue;
      await expectFault(readFile(whole.subarray(0, length)), 'truncated', /cut off or damaged/);
    }
  });

  it('is gzip with a wrong checksum', async () => {
    const damaged = gzipSync('ServiceId,b\n1,x\n');
    damaged.writeUInt32LE(7, damaged.length - 8);
    await expectFault(readFile(damaged), 'truncated', /cut off or damaged/);
  });

  it('is gzip followed by something else', async () => {
    await expectFault(
      readFile(Buffer.concat([gzipSync('ServiceId\n1\n'), Buffer.from('2\n3\n')])),
      'truncated',
      /damaged/,
    );
  });

  it.each([
    ['shrinks', (path: string) => truncate(path, 50_000)],
    ['grows', (path: string) => appendFile(path, '6\n')],
  ])('%s while it is read', async (_, change) => {
    const path = pathOf('2026-11-20.csv');
    await writeFile(path, `ServiceId\n${'5\n'.repeat(100_000)}`);
    const source = createCsvSource({
      file: createLocalDayFile(path),
      columns: masterIdOnly,
      blockBytes: 4096,
    });
    const reading = (async () => {
      let chunks = 0;
      for await (const _ of source.read(day, { signal: new AbortController().signal })) {
        chunks += 1;
        if (chunks === 1) await change(path);
      }
    })();
    await expectFault(reading, 'truncated', /changed while/);
  });
});
