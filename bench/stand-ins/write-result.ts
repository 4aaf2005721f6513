import { open, rename } from 'node:fs/promises';

const quote = 0x22;
const lineFeed = 0x0a;
const header = Buffer.from(',IsCorrectMapping');
const correct = Buffer.from(',True');
const incorrect = Buffer.from(',False');
/** All bookings on one in a hundred of the providers' hotels are affected: a mapping is wrong, not a booking. */
const affectedEach = 100;
const comma = 0x2c;
/** The column of the provider's hotel id. */
const hotelColumn = 4;
const blockBytes = 1 << 20;

/**
 * Writes the result of a review file next to it: its lines with a verdict appended, under a temporary name first. Works
 * byte by byte, because its time is subtracted from the measurements and should be short.
 */
export async function writeResult(reviewFile: string): Promise<void> {
  const resultFile = reviewFile.replace(/\.csv$/, '_Result.csv');
  const source = await open(reviewFile);
  const target = await open(`${resultFile}.tmp`, 'w');
  const block = Buffer.allocUnsafe(blockBytes);
  // Long enough for a block of empty lines, each with a verdict.
  const marked = Buffer.allocUnsafe(blockBytes * (header.length + 1));
  let line = 0;
  let isQuoted = false;
  let column = 0;
  let hash = 0;
  for (;;) {
    const { bytesRead } = await source.read(block, 0, blockBytes);
    if (bytesRead === 0) break;
    let length = 0;
    for (let place = 0; place < bytesRead; place += 1) {
      const byte = block[place] as number;
      if (byte === quote) isQuoted = !isQuoted;
      else if (byte === comma && !isQuoted) column += 1;
      else if (column === hotelColumn) hash = (hash * 31 + byte) % 1_000_003;
      if (byte === lineFeed && !isQuoted) {
        const verdict = line === 0 ? header : hash % affectedEach === 0 ? incorrect : correct;
        verdict.copy(marked, length);
        length += verdict.length;
        line += 1;
        column = 0;
        hash = 0;
      }
      marked[length] = byte;
      length += 1;
    }
    await target.write(marked, 0, length);
  }
  await source.close();
  await target.close();
  await rename(`${resultFile}.tmp`, resultFile);
}
