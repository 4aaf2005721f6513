import type { OptionsOf, SourceFlags } from '../common/setup.js';

export const pathRule = {
  name: 'modulePath',
  setting: ['source', 'path'],
  beside: { source: { kind: 'module' } },
} as const;

export const moduleFlags = {
  path: { value: '<path>', help: 'its file', rule: pathRule },
} as const satisfies SourceFlags;

export type ModuleOptions = OptionsOf<typeof moduleFlags>;
