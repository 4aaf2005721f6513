import type { BusinessDay } from '../../booking/business-day.js';
import type { SourceError } from '../../booking/source.js';
import type { SourceParts } from '../common/kind.js';
import type { Sample, SampleDay } from '../common/sample.js';
import type { DayFile } from './day-file.js';
import { openDayFile } from './open-day-file.js';
import type { FileSettings } from './settings.js';
import { readUnknownText, type UnknownText } from './text-file.js';

const sampleBytes = 256 * 1024;

/** Samples the beginning of a day's file, whatever its encoding. */
export function sampleFile(
  settings: FileSettings,
  parts: SourceParts,
  readSample: (text: string) => Sample,
  explainEmpty: (location: string) => SourceError,
): SampleDay {
  const file = openDayFile(settings, parts.openBucket);
  return async (day, signal) => {
    const beginning = await readBeginning(file, day, signal);
    if (beginning === undefined) throw explainEmpty(file.locate(day));
    const { text, ...encoding } = beginning;
    return { ...readSample(text), ...encoding };
  };
}

/** Whole lines only, if the file is longer than the sample; undefined for an empty file. */
async function readBeginning(
  file: DayFile,
  day: BusinessDay,
  signal: AbortSignal,
): Promise<UnknownText | undefined> {
  const blocks: Buffer[] = [];
  let held = 0;
  let isLonger = false;
  for await (const { bytes } of file.read(day, { blockBytes: sampleBytes, signal })) {
    isLonger = held >= sampleBytes;
    if (isLonger) break;
    blocks.push(bytes);
    held += bytes.length;
  }
  signal.throwIfAborted();
  if (held === 0) return undefined;
  const read = readUnknownText(Buffer.concat(blocks), file.locate(day));
  return isLonger ? { ...read, text: read.text.slice(0, read.text.lastIndexOf('\n') + 1) } : read;
}
