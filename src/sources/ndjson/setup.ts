import { type Sample, sampleRecords } from '../common/setup.js';
import { createFileSetup } from '../files/setup.js';
import { listMembers, toMemberSample } from '../json/sample.js';
import { explainEmptyNdjson } from './ndjson-source.js';

export const ndjsonSetup = createFileSetup({
  kind: 'ndjson',
  label: 'In files: NDJSON, one JSON object per line',
  suits: (path) => /\.(?:ndjson|jsonl)(?:\.gz)?$/i.test(path),
  readSample: readNdjsonSample,
  explainEmpty: explainEmptyNdjson,
  findObjection: ({ columns }) =>
    columns.length > 0 ? undefined : 'none of its first lines is a JSON object',
  renderMore: () => [],
});

/** Samples the lines that are JSON objects. */
function readNdjsonSample(text: string): Sample {
  return toMemberSample(
    text
      .split('\n')
      .slice(0, sampleRecords)
      .map((line) => listMembers(parse(line))),
  );
}

/** The parser's error quotes the line, and so a guest. It is dropped. */
function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
