import type { BusinessDay } from '../../booking/business-day.js';
import { explainEmptyCsv } from '../../sources/csv/csv-source.js';
import type { DayFile } from '../../sources/files/day-file.js';
import { createTextGate, explainBinary } from '../../sources/files/text-file.js';
import { explainEmptyNdjson } from '../../sources/ndjson/ndjson-source.js';
import { readCsvSample } from './csv-sample.js';
import { readNdjsonSample } from './ndjson-sample.js';
import type { SampleDay } from './sample.js';

type SampledFile = Pick<DayFile, 'locate' | 'read'>;

const sampleBytes = 256 * 1024;

/** Samples the beginning of the day's file, wherever it lies, compressed with gzip or not. */
export function sampleFile(file: SampledFile, kind: 'csv' | 'ndjson'): SampleDay {
  return async (day, signal) => {
    const text = await readBeginning(file, day, signal);
    const place = file.locate(day);
    switch (kind) {
      case 'csv':
        if (text === undefined) throw explainEmptyCsv(place);
        return readCsvSample(text);
      case 'ndjson':
        if (text === undefined) throw explainEmptyNdjson(place);
        return readNdjsonSample(text);
    }
  };
}

/** Whole lines only, where the file goes on behind them; undefined where there is not a byte. */
async function readBeginning(
  file: SampledFile,
  day: BusinessDay,
  signal: AbortSignal,
): Promise<string | undefined> {
  const blocks: Buffer[] = [];
  let held = 0;
  let goesOn = false;
  for await (const { bytes } of file.read(day, { blockBytes: sampleBytes, signal })) {
    goesOn = held >= sampleBytes;
    if (goesOn) break;
    blocks.push(bytes);
    held += bytes.length;
  }
  signal.throwIfAborted();
  if (held === 0) return undefined;
  const verdict = createTextGate().pass(Buffer.concat(blocks));
  if (verdict.kind === 'binary') throw explainBinary(file.locate(day), verdict.lineFeedsBefore + 1);
  const text = verdict.bytes.toString();
  return goesOn ? text.slice(0, text.lastIndexOf('\n') + 1) : text;
}
