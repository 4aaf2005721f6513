import { SourceError } from '../../review/source.js';
import { formatBytes } from '../../text/format.js';
import type { DayFile } from './day-file.js';

/** The text of a real day becomes about a tenth, repeated lines a fiftieth. */
const maxRatio = 200;
/** Below this size, the ratio says nothing: a day of a hundred equal bookings unpacks to many times its size. */
const leastBytes = 100_000_000;

/**
 * Refuses a file that is too large, or that unpacks to far more than a day's bookings do: whoever writes the file must not
 * decide how much disk and time is used.
 */
export function createLimitedDayFile(file: DayFile, maxBytes: number): DayFile {
  return {
    ...file,
    async *read(day, reading) {
      let bytes = 0;
      for await (const block of file.read(day, reading)) {
        const { done, total } = block.progress;
        bytes += block.bytes.length;
        if (Math.max(bytes, total) > maxBytes) {
          throw new SourceError(
            'unreadable',
            `${file.locate(day)} has ${total > maxBytes ? formatBytes(total) : `more than ${formatBytes(maxBytes)}`}, and at most ${formatBytes(maxBytes)} are read: is it a day's bookings?`,
          );
        }
        if (bytes > leastBytes && bytes > done * maxRatio) {
          throw new SourceError(
            'unreadable',
            `${file.locate(day)} unpacks to more than ${maxRatio} times its size: it can't be a day's bookings; have it exported again, or unpack it first`,
          );
        }
        yield block;
      }
    },
  };
}
