import { unknownHostKey, unknownWord } from '../../config/placeholders.js';
import type { Examination } from '../../examination/examine-day.js';
import { variables } from '../answers/secrets.js';
import type { DropAnswers, FileAnswers } from '../answers/source-answers.js';
import { mark } from './mark.js';
import { renderRecords } from './records.js';
import { writeGroup, writeOption, writeReference, writeSetting } from './setting-lines.js';

/** One file a day, wherever it lies. */
export function renderFileSource({ kind, path, drop }: FileAnswers, examination: Examination): string[] {
  return [
    ...writeSetting(['source', 'path'], path),
    ...(drop === undefined ? [] : renderAccount(drop)),
    ...renderRecords(examination),
    ...(kind === 'csv' ? renderDelimiter(examination) : []),
  ];
}

function renderAccount({ username, keyFile, hostKey }: DropAnswers): string[] {
  const sftp = ['source', 'sftp'] as const;
  return [
    ...writeGroup(sftp),
    ...writeSetting([...sftp, 'username'], username ?? unknownWord, mark(username, 'your user name there')),
    ...(keyFile === undefined
      ? writeReference([...sftp, 'password'], variables.sourcePassword)
      : writeSetting([...sftp, 'privateKeyFile'], keyFile)),
    ...writeSetting(
      [...sftp, 'hostKey'],
      hostKey ?? unknownHostKey,
      mark(hostKey, 'what `hotel-review doctor` shows, after whoever runs the server said that it is theirs'),
    ),
  ];
}

function renderDelimiter(examination: Examination): string[] {
  const path = ['source', 'delimiter'] as const;
  const delimiter = examination.kind === 'examined' ? examination.delimiter : undefined;
  return delimiter === undefined || delimiter === ',' ? writeOption(path) : writeSetting(path, delimiter);
}
