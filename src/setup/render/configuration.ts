import { unknownBaseUrl, unknownHost, unknownHostKey, unknownWord } from '../../config/placeholders.js';
import { readSettingFacts } from '../../config/single-setting.js';
import type { Examination } from '../../examination/examine-day.js';
import type { Answers, SftpAnswers } from '../answers/answers.js';
import { settingOf } from '../answers/check-answer.js';
import { variables } from '../answers/secrets.js';
import { mark } from './mark.js';
import {
  writeComment,
  writeGroup,
  writeOption,
  writeOptionalGroup,
  writeReference,
  writeSetting,
} from './setting-lines.js';
import { renderSource } from './source.js';

interface Rendered {
  readonly answers: Answers;
  readonly examination: Examination;
  /** Where editors find the JSON Schema: a path relative to the configuration, or a URL. */
  readonly schema: string;
}

/**
 * The text of a configuration that loads as it is, with the answers, and commented out the settings that are changed most
 * often. Descriptions and defaults are the schema's.
 */
export function renderConfiguration({ answers, examination, schema }: Rendered): string {
  const { timezone, delivery, sftp } = answers;
  const sections = [
    [
      `# yaml-language-server: $schema=${schema}`,
      ...writeComment(
        `Settings that are commented out show their defaults. Relative paths are relative to this file, and \${NAME} ` +
          'takes a variable of the environment or of the file .env beside this one. Whatever is a PLACEHOLDER has to ' +
          'be filled in; `hotel-review doctor` says whether all is well.',
      ),
    ],
    writeSetting(['timezone'], timezone),
    renderService(answers),
    ...renderSource(answers.source, examination),
    writeSetting(['delivery'], delivery),
    ...(sftp === undefined ? [] : [renderFileDelivery(sftp)]),
    writeOptionalGroup(['body'], ['batchSize', 'concurrency']),
    writeOption(['maxRejectedShare']),
    writeOption(['emptyDay']),
    writeOption(['ledger']),
    ...(delivery === 'file' ? [writeOption(['archive'])] : []),
    [...writeOption(['guestNameDays']), ...writeOption(['recordDays'])],
  ];
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function renderService({ baseUrl }: Answers): string[] {
  return [
    ...writeGroup(['service']),
    ...writeSetting(
      ['service', 'baseUrl'],
      baseUrl ?? unknownBaseUrl,
      mark(baseUrl, "the service's address"),
    ),
    ...writeReference(['service', 'apiKey'], variables.apiKey),
    ...writeReference(['service', 'accountId'], variables.accountId),
    ...writeOption(['service', 'timeoutSeconds']),
    ...writeOption(['service', 'masterIdName']),
    ...writeOption(['service', 'masterIdColumn']),
  ];
}

function renderFileDelivery({ host, port, username, keyFile, hostKey }: SftpAnswers): string[] {
  const sftp = ['file', 'sftp'] as const;
  const isUsualPort = port === undefined || port === readSettingFacts(settingOf.sftpPort).fallback;
  return [
    ...writeGroup(['file']),
    ...writeGroup(sftp),
    ...writeSetting([...sftp, 'host'], host ?? unknownHost, mark(host, "the server's name")),
    ...(isUsualPort ? writeOption([...sftp, 'port']) : writeSetting([...sftp, 'port'], port)),
    ...writeSetting([...sftp, 'username'], username ?? unknownWord, mark(username, 'your user name there')),
    ...(keyFile === undefined
      ? writeReference([...sftp, 'password'], variables.sftpPassword)
      : writeSetting([...sftp, 'privateKeyFile'], keyFile)),
    ...writeSetting(
      [...sftp, 'hostKey'],
      hostKey ?? unknownHostKey,
      mark(hostKey, 'what `hotel-review doctor` shows, after whoever runs the server said that it is theirs'),
    ),
    ...writeOption([...sftp, 'root']),
    ...writeOption(['file', 'incomplete']),
    ...writeOption(['file', 'resultTimeoutMinutes']),
    ...writeOption(['file', 'ftpFilePathPrefix']),
  ];
}
