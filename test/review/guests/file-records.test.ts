import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contains, lineEndOf, readRecords } from '../../../src/review/guests/file-records.js';

async function* inBlocks(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  const block = Buffer.alloc(size);
  for (let at = 0; at < bytes.length; at += size) {
    // The memory is reused, as the spool does.
    const length = bytes.copy(block, 0, at, at + size);
    yield block.subarray(0, length);
  }
}

async function readAll(text: string, size = 7) {
  const all = [];
  for await (const records of readRecords(inBlocks(text, size))) all.push(...records);
  return all;
}

describe('the records of a file', () => {
  it('are its bytes, whatever they are', async () => {
    const piece = fc.constantFrom('"', ',', '\n', '\r\n', 'a', 'é', '""', 'BR-1');
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { maxLength: 60 }),
        fc.integer({ min: 1, max: 9 }),
        async (pieces, size) => {
          const text = pieces.join('');
          const records = await readAll(text, size);
          expect(Buffer.concat(records.map(({ raw }) => raw)).toString()).toBe(text);
        },
      ),
    );
  });

  it('have their cells, over several lines where a quoted cell has line ends', async () => {
    const records = await readAll('\ufeffa,b\r\n1,"x\ny ""z"""\r\n2,w');
    expect(records.map(({ line, cells }) => ({ line, cells }))).toEqual([
      { line: 1, cells: ['a', 'b'] },
      { line: 2, cells: ['1', 'x\ny "z"'] },
      { line: 4, cells: ['2', 'w'] },
    ]);
    expect(records.map(lineEndOf)).toEqual(['\r\n', '\r\n', '']);
  });

  it('are not swallowed by an unclosed quote', async () => {
    const rows = Array.from({ length: 40 }, (_, row) => `${row},x`);
    const records = await readAll(['1,"open', ...rows, ''].join('\n'));
    expect(records[0]).toMatchObject({ line: 1, cells: undefined });
    expect(records).toHaveLength(41);
    expect(records.at(-1)?.cells).toEqual(['39', 'x']);
  });
});

describe('a search for texts', () => {
  it('finds them across blocks', async () => {
    for (const size of [1, 3, 5, 100]) {
      expect(await contains(inBlocks('x,BR-1042,y\n', size), ['none', 'BR-1042'])).toBe(true);
      expect(await contains(inBlocks('x,BR-1042,y\n', size), ['none', 'BR-1043'])).toBe(false);
    }
    expect(await contains(inBlocks('x', 1), [])).toBe(false);
  });
});
