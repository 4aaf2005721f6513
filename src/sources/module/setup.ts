import { type SourceSetup, sampleRecords } from '../common/setup.js';
import { type ListedMembers, listMembers, toMemberSample } from '../json/sample.js';
import { createDayItems } from './day-items.js';
import { type ModuleOptions, pathRule } from './flags.js';
import type { ModuleSettings } from './kind.js';
import { createModuleMessages } from './module-source.js';

export interface ModuleAnswers {
  readonly kind: 'module';
  readonly path: string;
}

export const moduleSetup: SourceSetup<ModuleAnswers, ModuleSettings, ModuleOptions> = {
  label: 'Anywhere else: a module of your own reads them',
  suits: (name) => /\.[cm]?[jt]s$/i.test(name),
  async ask({ path: given }, questions) {
    const fallback = 'bookings.mjs';
    const message = 'The file of the module';
    const answer = await questions.text({ rule: pathRule, given, message, fallback, isPath: true });
    return { kind: 'module', path: answer ?? fallback };
  },
  listSecrets: () => [],
  render: (answers, write, { records }) => [
    ...write.setting(['source', 'path'], answers.path),
    ...records,
    ...write.comment('Settings for the module itself, as `options`:', '  '),
    ...write.commentOut(['  options:', `    token: "\${MY_TOKEN}"`], '  '),
  ],
  findProgram: (answers) => answers.path,
  /** Samples the first items that the module yields, then stops it. */
  sample(settings, { sourceMessages }) {
    const { read } = createDayItems({ ...settings, ...createModuleMessages(settings.path, sourceMessages) });
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
  },
  findObjection: ({ columns }, { iso }) => (columns.length > 0 ? undefined : `it holds no booking of ${iso}`),
};
