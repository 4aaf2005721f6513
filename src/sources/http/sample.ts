import type { SourceParts } from '../common/kind.js';
import { type SampleDay, sampleRecords } from '../common/sample.js';
import { listElements } from '../json/json-text.js';
import { listMembers, toMemberSample } from '../json/sample.js';
import { createDayPages, toPageOptions } from './http-source.js';
import type { HttpSettings } from './kind.js';

/** Samples the first page, with the source's own request. */
export function sampleApi(settings: HttpSettings, parts: SourceParts): SampleDay {
  const { read } = createDayPages(toPageOptions(settings, parts));
  return async (day, signal) => {
    for await (const page of read(day, signal)) {
      return toMemberSample(listFirst(page).map((json) => listMembers(JSON.parse(json))));
    }
    signal.throwIfAborted();
    return toMemberSample([]);
  };
}

function listFirst(page: string): readonly string[] {
  const first: string[] = [];
  for (const json of listElements(page)) {
    if (first.length === sampleRecords) break;
    first.push(json);
  }
  return first;
}
