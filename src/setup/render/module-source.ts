import type { Examination } from '../../examination/examine-day.js';
import type { ModuleAnswers } from '../answers/source-answers.js';
import { renderRecords } from './records.js';
import { commentOut, writeComment, writeSetting } from './setting-lines.js';

/** Bookings from a file of the user's own code. */
export function renderModuleSource({ path }: ModuleAnswers, examination: Examination): string[] {
  return [
    ...writeSetting(['source', 'path'], path, undefined, 'module'),
    ...renderRecords(examination),
    ...writeComment('Whatever the module is to be told, as `options`:', '  '),
    ...commentOut(['  options:', `    token: "\${MY_TOKEN}"`], '  '),
  ];
}
