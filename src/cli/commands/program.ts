import { Command } from 'commander';
import { addExportCommands, type ExportHandlers } from './exports.js';
import { addHotelCommands, type HotelHandlers } from './hotels.js';
import { addMappingCommands, type MappingHandlers } from './mappings.js';
import { addNotifyCommands, type NotifyHandlers } from './notify.js';
import type { Finish } from './options.js';
import { addServiceCommands, type ServiceHandlers } from './service.js';
import { addVerdictCommands, type VerdictHandlers } from './verdicts.js';

/** The handler of each command; each returns the exit code. */
export interface Handlers
  extends MappingHandlers,
    HotelHandlers,
    VerdictHandlers,
    ExportHandlers,
    NotifyHandlers,
    ServiceHandlers {}

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
  addMappingCommands(defined, handlers, finish);
  addHotelCommands(defined, handlers, finish);
  addVerdictCommands(defined, handlers, finish);
  addExportCommands(defined, handlers, finish);
  addNotifyCommands(defined, handlers, finish);
  addServiceCommands(defined, handlers, finish);
  return defined.commands;
}
