import type { Examination } from '../../examination/examine-day.js';
import type { SourceAnswers } from '../answers/source-answers.js';
import { renderBucket } from './bucket.js';
import { renderFileSource } from './file-source.js';
import { renderHttpSource } from './http-source.js';
import { renderModuleSource } from './module-source.js';
import { writeGroup, writeSetting } from './setting-lines.js';
import { renderSqlSource } from './sql-source.js';

/** The group `source`, with what a look at a day's bookings told of it; and the group `s3` where the files lie in a bucket. */
export function renderSource(source: SourceAnswers, examination: Examination): string[][] {
  const group = [
    ...writeGroup(['source']),
    ...writeSetting(['source', 'kind'], source.kind),
    ...renderKind(source, examination),
  ];
  return 'bucket' in source && source.bucket !== undefined ? [group, renderBucket(source.bucket)] : [group];
}

function renderKind(source: SourceAnswers, examination: Examination): string[] {
  switch (source.kind) {
    case 'csv':
    case 'ndjson':
      return renderFileSource(source, examination);
    case 'sql':
      return renderSqlSource(source, examination);
    case 'http':
      return renderHttpSource(source, examination);
    case 'module':
      return renderModuleSource(source, examination);
  }
}
