import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { print } from '../../src/base/foreign-text.js';
import { createBusinessDay } from '../../src/booking/business-day.js';
import { createDayReader } from '../../src/review/collect/day-reader.js';
import { sendChunks, sendClock } from '../../src/review/reading-thread/threaded-reader.js';
import { clock } from '../clock.js';
import { composeSource, type ReadingOrder } from '../sources.js';

/** The thread that reads a large day and ends with it. */
async function readDay({ settings, day, sending, erased }: ReadingOrder, port: MessagePort): Promise<void> {
  // Source modules are not read in this thread, so it has none of their errors to show.
  const sourceMessages = {
    say: (text: string) => void print(process.stderr, `${text}\n`),
    showsModuleErrors: false,
  };
  const reader = createDayReader(await composeSource(settings, sourceMessages, sendClock(clock, port)));
  const read = (signal: AbortSignal) =>
    reader.read(createBusinessDay(day.iso, day.zone), sending, { signal, erased });
  await sendChunks(read, port);
}

if (!parentPort) throw new TypeError('expected to be started as a thread');
// Not awaited: sources are loaded on demand, and share this file's bundle, which would have to be loaded first.
void readDay(workerData as ReadingOrder, parentPort);
