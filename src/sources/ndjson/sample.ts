import type { SourceParts } from '../common/kind.js';
import { type Sample, type SampleDay, sampleRecords } from '../common/sample.js';
import { sampleFile } from '../files/sample.js';
import { listMembers, toMemberSample } from '../json/sample.js';
import type { NdjsonSettings } from './kind.js';
import { explainEmptyNdjson } from './ndjson-source.js';

export function sampleNdjson(settings: NdjsonSettings, parts: SourceParts): SampleDay {
  return sampleFile(settings, parts, readNdjsonSample, explainEmptyNdjson);
}

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
