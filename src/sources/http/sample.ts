import type { SourceParts } from '../common/kind.js';
import { type SampleDay, sampleRecords } from '../common/sample.js';
import { listMembers, toMemberSample } from '../json/sample.js';
import { createDayPages, toPageOptions } from './http-source.js';
import type { HttpSettings } from './kind.js';

/** Samples the first page, with the source's own request. */
export function sampleApi(settings: HttpSettings, parts: SourceParts): SampleDay {
  const { read } = createDayPages(toPageOptions(settings, parts));
  return async (day, signal) => {
    for await (const page of read(day, signal)) {
      return toMemberSample(page.slice(0, sampleRecords).map((json) => listMembers(JSON.parse(json))));
    }
    signal.throwIfAborted();
    return toMemberSample([]);
  };
}
