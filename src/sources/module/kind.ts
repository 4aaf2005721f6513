import { resolve } from 'node:path';
import * as z from 'zod';
import { confidentiality, expected, group, text } from '../../base/setting-values.js';
import type { SourceKind } from '../common/kind.js';
import { recordSettings } from '../common/record-settings.js';

/** Bookings from a module of the user's own. */
const settings = group({
  kind: z.literal('module', expected('module')).describe('The bookings come from a module of your own.'),
  path: text('a path').describe('The file that exports `bookings`.'),
  ...recordSettings,
  options: z
    .record(z.string(), z.unknown(), expected('a group of settings of your own'))
    .default({})
    .describe('Passed to the module unchanged, as `options`.')
    .register(confidentiality, { level: 'private' }),
});

export type ModuleSettings = z.output<typeof settings>;

const kind: SourceKind<ModuleSettings> = {
  name: 'module',
  placeUnit: 'record',
  resolve: (source, folder) => ({ ...source, path: resolve(folder, source.path) }),
  listLocalFiles: ({ path }) => [{ path, holds: 'code' }],
  async open(source, { sourceMessages }) {
    const { createModuleSource, createModuleMessages } = await import('./module-source.js');
    return createModuleSource({
      ...source,
      ...createModuleMessages(source.path, sourceMessages),
    });
  },
  async openSample(source, parts) {
    const { sampleObjects } = await import('../common/sample.js');
    return sampleObjects(await this.open(source, parts));
  },
};

export const module = { ...kind, settings };
