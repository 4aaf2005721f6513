import { unknownQuery } from '../../config/placeholders.js';
import type { Examination } from '../../examination/examine-day.js';
import { variables } from '../answers/secrets.js';
import type { QueryAnswer, SqlAnswers } from '../answers/source-answers.js';
import { mark } from './mark.js';
import { renderRecords } from './records.js';
import { writeOption, writeReference, writeSetting, writeTextSetting } from './setting-lines.js';

/** Bookings in a database. Its address holds a password, so that it stands in `.env`, but for a file's. */
export function renderSqlSource({ file, query }: SqlAnswers, examination: Examination): string[] {
  return [
    ...(file === undefined
      ? writeReference(['source', 'url'], variables.sourceUrl, 'sql')
      : writeSetting(['source', 'url'], file, undefined, 'sql')),
    ...renderQuery(query),
    ...renderRecords(examination),
    ...writeOption(['source', 'timeoutSeconds'], 'sql'),
  ];
}

function renderQuery(query: QueryAnswer | undefined): string[] {
  switch (query?.kind) {
    case undefined:
      return writeTextSetting(['source', 'query'], unknownQuery, mark(query, 'your own query'));
    case 'text':
      return writeTextSetting(['source', 'query'], query.text.trim());
    case 'file':
      return writeSetting(['source', 'queryFile'], query.path);
  }
}
