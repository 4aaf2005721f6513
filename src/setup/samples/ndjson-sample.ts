import { listMembers, toMemberSample } from './member-sample.js';
import { type Sample, sampleRecords } from './sample.js';

/** Samples the lines that are JSON objects. */
export function readNdjsonSample(text: string): Sample {
  return toMemberSample(
    text
      .split('\n')
      .slice(0, sampleRecords)
      .map((line) => listMembers(parse(line))),
  );
}

/** The parser's own error quotes the line, and so a guest: it is not kept. */
function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
