import { Command } from 'commander';
import { addCaseCommands, type CaseHandlers } from './cases.js';
import { addHistoryCommands, type HistoryHandlers } from './history.js';
import { addMappingCommands, type MappingHandlers } from './mappings.js';
import type { Finish } from './options.js';
import { addPrivacyCommands, type PrivacyHandlers } from './privacy.js';
import { addReviewCommands, type ReviewHandlers } from './review.js';
import { addSandboxCommands, type SandboxHandlers } from './sandbox.js';
import { addSetupCommands, type SetupHandlers } from './setup.js';

/** The handler of each command; each returns the exit code. */
export interface Handlers
  extends ReviewHandlers,
    HistoryHandlers,
    CaseHandlers,
    PrivacyHandlers,
    MappingHandlers,
    SetupHandlers,
    SandboxHandlers {}

/** The headings of the help and the commands below them. */
export const groups: readonly (readonly [heading: string, names: readonly string[]])[] = [
  [
    'The ten that you need:',
    ['init', 'doctor', 'run', 'replay', 'status', 'show', 'affected', 'cases', 'serve', 'sandbox'],
  ],
  [
    'Looking back:',
    ['rejected', 'refused', 'posted', 'suspects', 'verify', 'report', 'providers', 'evidence'],
  ],
  ['Mappings:', ['case', 'mappings', 'hotels', 'brands', 'export', 'verdicts']],
  ['Running:', ['cancel', 'work', 'hook', 'notify']],
  ["Guests' data and access:", ['guest', 'privacy', 'audit', 'keys', 'user']],
];

/** By area; the program shows them by group. */
export function defineCommands(program: Command, handlers: Handlers, finish: Finish): readonly Command[] {
  const defined = new Command().copyInheritedSettings(program);
  addReviewCommands(defined, handlers, finish);
  addHistoryCommands(defined, handlers, finish);
  addCaseCommands(defined, handlers, finish);
  addPrivacyCommands(defined, handlers, finish);
  addMappingCommands(defined, handlers, finish);
  addSetupCommands(defined, handlers, finish);
  addSandboxCommands(defined, handlers, finish);
  return defined.commands;
}
