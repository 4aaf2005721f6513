import { createDayPages, type DayPagesOptions } from '../../sources/http/day-pages.js';
import { listElements } from '../../sources/json/json-text.js';
import { listMembers, toMemberSample } from './member-sample.js';
import { type SampleDay, sampleRecords } from './sample.js';

/**
 * Samples the first page, asked for as the source asks.
 *
 * @throws RangeError for an address, TypeError for a header that can't be used
 */
export function sampleHttp(options: DayPagesOptions): SampleDay {
  const { read } = createDayPages(options);
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
