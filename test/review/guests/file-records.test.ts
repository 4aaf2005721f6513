import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contains, readRecords } from '../../../src/review/guests/file-records.js';
import { findRecords } from '../../../src/review/guests/guest.js';

async function* inBlocks(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  const block = Buffer.alloc(size);
  for (let at = 0; at < bytes.length; at += size) {
    // The memory is reused, as the spool does.
    const length = bytes.copy(block, 0, at, at + size);
    yield block.subarray(0, length);
  }
}

async function readAll(text: string, size = 7) {
  const all = [];
  for await (const records of readRecords(inBlocks(Buffer.from(text), size))) all.push(...records);
  return all;
}

/** The lines of Ana Gil's records. */
async function findLines(file: Buffer, reference: string) {
  const read = async function* () {
    const size = file.length > 10_000 ? 100_000 : 9;
    for (let at = 0; at < file.length; at += size) yield Buffer.from(file.subarray(at, at + size));
  };
  const found = await findRecords(read, { reference, names: new Set(['Ana Gil']) });
  return found.map(({ line }) => line);
}

describe('the records of a file', () => {
  it('have all of its lines, whatever they are', async () => {
    const piece = fc.constantFrom('"', ',', '\n', '\r\n', 'a', 'é', '""', 'BR-1');
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { maxLength: 60 }),
        fc.integer({ min: 1, max: 9 }),
        async (pieces, size) => {
          const lines = pieces.join('').replaceAll('\r\n', '\n').split('\n');
          const records = await readAll(pieces.join(''), size);
          const begun = records.map(({ line }) => line);
          expect(begun).toEqual([...new Set(begun)].sort((one, other) => one - other));
          for (const { line, text } of records) if (text !== undefined) expect(text).toBe(lines[line - 1]);
          const written = records.map(({ cells, text }) => text ?? cells?.join('') ?? '').join('');
          const kept = (text: string) => text.replace(/[",\n ]/g, '');
          expect(kept(written)).toBe(kept(lines.join('')));
        },
      ),
    );
  });

  it('that are too long to be read count as those of a guest whose reference the file holds', async () => {
    const rows = [
      'BookingReferenceId,BookingClientName',
      `BR-1,${'x'.repeat(1_100_000)}`,
      'BR-2,Eva Roth',
      '',
    ];
    expect(await findLines(Buffer.from(rows.join('\n')), 'BR-1')).toEqual([2]);
    expect(await findLines(Buffer.from(rows.join('\n')), 'BR-3')).toEqual([]);
  });

  it.each([
    ['semicolons', ';', '\n', 'utf8'],
    ['tabs and CR only', '\t', '\r', 'utf8'],
    ['UTF-16', ',', '\r\n', 'utf16le'],
    ['UTF-16, semicolons and CR only', ';', '\r', 'utf16le'],
    ['a byte for each character', ';', '\n', 'latin1'],
  ] as const)('are found in any form: %s', async (_, delimiter, end, encoding) => {
    const rows = [
      ['Result of a day'],
      ['BookingReferenceId', 'BookingClientName', 'Remark', 'IsCorrectMapping'],
      ['BR-1', 'Ana Gil', `for Ana Gil${delimiter} please`, 'True'],
      ['BR-2', 'Eva Roth', 'José', 'False'],
      ['br-1', 'Eva Roth', 'of another booking', 'False'],
    ];
    const quote = (cell: string) => (cell.includes(delimiter) ? `"${cell}"` : cell);
    const text = rows.map((cells) => `${cells.map(quote).join(delimiter)}${end}`).join('');
    expect(await findLines(Buffer.from(text, encoding), 'BR-1')).toEqual([3]);
  });

  it.each([
    ['BR-1', 'br-1'],
    ['BR-É1', 'br-é1'],
  ])(
    'are found where a reference is written in another way, if they name the guest: %s',
    async (reference, other) => {
      const text = `BookingReferenceId,BookingClientName\n ${other},Ana Gil\n${other},Eva Roth\n`;
      expect(await findLines(Buffer.from(text), reference)).toEqual([2]);
    },
  );

  it('are found where nobody knows what separates the cells', async () => {
    const text = 'BookingReferenceId~BookingClientName\nBR-1~Ana Gil\nBR-2~Eva Roth\n';
    expect(await findLines(Buffer.from(text), 'BR-1')).toEqual([2]);
  });

  it('are not swallowed by a quote that is closed in another row', async () => {
    const file =
      'BookingReferenceId,BookingClientName,IsCorrectMapping\nBR-1,"Ana,True\nBR-2,Eva,True\nBR-3,Ida",True\n';
    const records = await readAll(file);
    expect(records.map(({ cells }) => cells?.[0])).toEqual(['BookingReferenceId', undefined, 'BR-2', 'BR-3']);
  });
});

describe('the records of a guest', () => {
  const header = 'Service Mappings Id,BookingReferenceId,BookingClientName,ProviderName,ProviderHotelId';
  const findOf = (rows: readonly string[], columns = header) =>
    findLines(Buffer.from(`${[columns, ...rows].join('\n')}\n`), '100003');

  it("takes no other guest's record as the guest's, although a hotel's id is the same text as the reference", async () => {
    const rows = [
      '100004,100003,Ana Gil,Bedlink,BL-1',
      '100003,OTHER-1,Eva Roth,Bedlink,BL-2',
      '100005,OTHER-2,Tom Berg,Bedlink,100003',
    ];
    expect(await findOf(rows)).toEqual([2]);
  });

  it('checks every cell of a record with other columns than the header, or without a column of references', async () => {
    expect(await findOf(['100004,extra,100003,Ana Gil,Bedlink,BL-1'])).toEqual([2]);
    expect(await findOf(['False,100003'], 'Verdict,Booking')).toEqual([2]);
  });

  it('takes a malformed record as theirs if it has the reference or the name as a separate value', async () => {
    const malformed = (text: string) => `x,"y" ${text},z`;
    const theirs = ['100003', 'for 100003.', '#100003;1', 'Ana Gil'];
    const others = [
      '1000031',
      'BR-100003',
      '100003-2',
      '100003/2',
      'Ana Gilbert',
      'Joana Gil',
      'Ana Gil-Roth',
    ];
    const rows = [...theirs, ...others].map(malformed);
    expect(await findOf(rows)).toEqual(theirs.map((_, index) => index + 2));
  });
});

describe('a search for a text', () => {
  const file = 'x,BR-1042,y\n';

  it.each([
    ['UTF-8', Buffer.from(file)],
    ['UTF-16', Buffer.from(file, 'utf16le')],
    ['UTF-16, the high byte first', Buffer.from(file, 'utf16le').swap16()],
  ])('finds it across blocks: in %s', async (_, bytes) => {
    for (const size of [1, 3, 5, 100]) {
      expect(await contains(inBlocks(bytes, size), 'BR-1042')).toBe(true);
      expect(await contains(inBlocks(bytes, size), 'BR-1043')).toBe(false);
    }
    expect(await contains(inBlocks(bytes, 1), '')).toBe(true);
  });
});
