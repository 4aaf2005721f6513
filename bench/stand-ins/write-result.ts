import { open, rename } from 'node:fs/promises';

const quote = 0x22;
const lineFeed = 0x0a;
const header = Buffer.from(',IsCorrectMapping');
const correct = Buffer.from(',True');
const incorrect = Buffer.from(',False');
/** Every hundredth booking is affected. */
const affectedEach = 100;
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
  for (;;) {
    const { bytesRead } = await source.read(block, 0, blockBytes);
    if (bytesRead === 0) break;
    let length = 0;
    for (let place = 0; place < bytesRead; place += 1) {
      const byte = block[place] as number;
      if (byte === quote) isQuoted = !isQuoted;
      if (byte === lineFeed && !isQuoted) {
        const verdict = line === 0 ? header : line % affectedEach === 0 ? incorrect : correct;
        verdict.copy(marked, length);
        length += verdict.length;
        line += 1;
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
