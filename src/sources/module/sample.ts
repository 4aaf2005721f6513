import type { SourceMessages } from '../common/kind.js';
import { type SampleDay, sampleRecords } from '../common/sample.js';
import { type ListedMembers, listMembers, toMemberSample } from '../json/sample.js';
import { createDayItems } from './day-items.js';
import type { ModuleSettings } from './kind.js';
import { createModuleMessages } from './module-source.js';

/** Samples the first items that the module yields, then stops it. */
export function sampleModule(settings: ModuleSettings, messages: SourceMessages): SampleDay {
  const { read } = createDayItems({ ...settings, ...createModuleMessages(settings.path, messages) });
  return async (day, signal) => {
    const listed: (ListedMembers | undefined)[] = [];
    const take = (records: readonly unknown[]) => [records.slice(0, sampleRecords).map(listMembers)];
    for await (const members of read(day, { signal, take })) {
      listed.push(...members);
      // Several at once are a page, and the next page may cost another call.
      if (members.length > 1 || listed.length >= sampleRecords) break;
    }
    return toMemberSample(listed);
  };
}
