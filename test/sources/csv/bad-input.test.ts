import { describe, expect, it } from 'vitest';
import { expectFault, readCsv, summarise } from '../reading.js';

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
    const { records } = await readCsv(`ServiceId,b\n1,"x"\n${line}\n3,"x"\n4,x\n${line}${end}`);
    expect(summarise(records)).toEqual(['2:1', `3!${reason}`, '4:3', '5:4', `6!${reason}`]);
  });

  it.each([1, 3, 1024])('is longer than the limit, read %i bytes at a time', async (blockBytes) => {
    const long = 'x'.repeat(99);
    const lines = [
      ...['ServiceId,b', `1,${long.slice(1)}`, `2,${long}`, `3,"${long}\n""\n,"`],
      ...[`4,"${long}" malformed too`, `5,"x"malformed too, ${long}`, '6,x'],
    ];
    const { records } = await readCsv(lines.join('\r\n'), { recordLimit: 100, blockBytes });
    const tooLong = ['3', '4', '7', '8'].map((line) => `${line}!record-too-long`);
    expect(summarise(records)).toEqual(['2:1', ...tooLong, '9:6']);
  });
});

describe('a CSV file that cannot be trusted as a whole', () => {
  it('ends inside quotes: the error names the line where the record begins', async () => {
    const content = 'ServiceId,b\n1,"x\ny"\n2,"Canary\n3,x\n4,x\n';
    for (const recordLimit of [14, 1000])
      await expectFault(readCsv(content, { recordLimit }), 'unterminated-quote', /line 4:/);
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
        const error = await expectFault(
          readCsv(content, { blockBytes, recordLimit: 30 }),
          'truncated',
          words,
          ['Cana'],
        );
        expect(error.message).toMatch(/line [34]: /);
      }
    }
  });

  it.each([
    ['no line end', 'CheckOutDate', '2026-11-24', '2026-11-25'],
    ['an empty date in quotes', 'CheckOutDate', '2026-11-24', '""'],
    ['a word for no date', 'CheckOutDate', '2026-11-24', '-'],
    ['another form of date', 'CheckOutDate', '2026-11-24', '25.11.2026'],
    ['too many cells', 'CheckOutDate', '2026-11-24', '2026-11-25,x'],
    ['half a line end', 'CheckOutDate', '2026-11-24', '2026-11-25\r'],
    ['empty cells', 'CheckOutDate', '2026-11-24', '2026-11-25\n ,,'],
    ['a shorter id of digits', 'ProviderHotelId', '10203040', '1020304'],
    ['an id that is written like a date', 'ProviderHotelId', '10-10-2026', '10'],
    ['a shorter number in a column that is not read', 'Phone', '63112233', '631'],
  ])('may end with %s', async (_, column, other, last) => {
    const { records } = await readCsv(`ServiceId,b,${column}\n1,x,${other}\n2,y,${last}`);
    expect(records).toHaveLength(2);
  });

  it('has a header that cannot be read', async () => {
    const header = '"ServiceId"Canary,b\n1,x\n';
    await expectFault(readCsv(header), 'unreadable', /line 1: the header .*malformed-quotes/);
    await expectFault(readCsv('ServiceId,b\n', { recordLimit: 5 }), 'unreadable', /header .*record-too-long/);
    const endless = readCsv('x'.repeat(300), { skipRows: 1, recordLimit: 100, blockBytes: 50 });
    await expectFault(endless, 'unreadable', /rows above the header .* have no end/);
  });
});
