import { createDayItems, type DayItemsOptions } from '../../sources/module/day-items.js';
import { type ListedMembers, listMembers, toMemberSample } from './member-sample.js';
import { type SampleDay, sampleRecords } from './sample.js';

/** Samples what the module yields first, and tells it to end. */
export function sampleModule(options: DayItemsOptions): SampleDay {
  const { read } = createDayItems(options);
  return async (day, signal) => {
    const listed: (ListedMembers | undefined)[] = [];
    const take = (records: readonly unknown[]) => [records.slice(0, sampleRecords).map(listMembers)];
    for await (const members of read(day, { signal, take })) {
      listed.push(...members);
      // Several at once are a page, and the next one may cost another call.
      if (members.length > 1 || listed.length >= sampleRecords) break;
    }
    return toMemberSample(listed);
  };
}
