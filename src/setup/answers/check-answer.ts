import { checkSetting } from '../../config/single-setting.js';

/** Where an answer stands in the configuration; its check is the schema's. */
export const settingOf = {
  timezone: ['timezone'],
  baseUrl: ['service', 'baseUrl'],
  apiKey: ['service', 'apiKey'],
  accountId: ['service', 'accountId'],
  delivery: ['delivery'],
  sftpHost: ['file', 'sftp', 'host'],
  sftpPort: ['file', 'sftp', 'port'],
  sftpUsername: ['file', 'sftp', 'username'],
  sftpPassword: ['file', 'sftp', 'password'],
  sftpKeyFile: ['file', 'sftp', 'privateKeyFile'],
  sftpHostKey: ['file', 'sftp', 'hostKey'],
  kind: ['source', 'kind'],
  path: ['source', 'path'],
  modulePath: ['source', 'path'],
  sourceSftpUsername: ['source', 'sftp', 'username'],
  sourceSftpKeyFile: ['source', 'sftp', 'privateKeyFile'],
  sourceSftpHostKey: ['source', 'sftp', 'hostKey'],
  sourceSftpPassword: ['source', 'sftp', 'password'],
  s3Endpoint: ['s3', 'endpoint'],
  s3Region: ['s3', 'region'],
  s3KeyId: ['s3', 'accessKeyId'],
  s3Secret: ['s3', 'secretAccessKey'],
  sourceUrl: ['source', 'url'],
  query: ['source', 'query'],
  queryFile: ['source', 'queryFile'],
  url: ['source', 'url'],
  basicUsername: ['source', 'basic', 'username'],
  sourcePassword: ['source', 'basic', 'password'],
  sourceToken: ['source', 'bearerToken'],
  sourceKey: ['source', 'headers', 'X-Api-Key'],
  records: ['source', 'records'],
  pageParameter: ['source', 'pagination', 'parameter'],
  pageSizeParameter: ['source', 'pagination', 'sizeParameter'],
  pageSize: ['source', 'pagination', 'size'],
  cursorField: ['source', 'pagination', 'field'],
} as const satisfies Readonly<Record<string, readonly [string, ...string[]]>>;

export type AnswerName = keyof typeof settingOf;

export function isAnswerName(name: string): name is AnswerName {
  return Object.hasOwn(settingOf, name);
}

const numbers: ReadonlySet<AnswerName> = new Set(['sftpPort', 'pageSize']);
const ofModule: ReadonlySet<AnswerName> = new Set(['modulePath']);
const ofDatabase: ReadonlySet<AnswerName> = new Set(['sourceUrl', 'query', 'queryFile']);
const ofApi: ReadonlySet<AnswerName> = new Set([
  'url',
  'basicUsername',
  'sourcePassword',
  'sourceToken',
  'sourceKey',
  'records',
]);
const ofPages: ReadonlySet<AnswerName> = new Set(['pageParameter', 'pageSizeParameter', 'pageSize']);

/**
 * Says what is wrong with an answer, in the words of the configuration's own check.
 *
 * @param database the address by whose rules a query is read
 */
export function checkAnswer(name: AnswerName, value: string, database?: string): string | undefined {
  const isNumber = numbers.has(name) && /^\d+$/.test(value);
  return checkSetting(settingOf[name], isNumber ? Number(value) : value, {
    source: describeSource(name, database),
    // Either is wrong without the other.
    ...(name === 's3KeyId' && { s3: { secretAccessKey: 'any' } }),
  });
}

/** What has to stand beside a setting of a source, so that the schema looks at it. */
function describeSource(name: AnswerName, database: string | undefined): Readonly<Record<string, unknown>> {
  if (ofDatabase.has(name)) return { kind: 'sql', ...(database !== undefined && { url: database }) };
  if (ofApi.has(name)) return { kind: 'http' };
  if (ofPages.has(name)) return { kind: 'http', pagination: { kind: 'page' } };
  if (name === 'cursorField') return { kind: 'http', pagination: { kind: 'cursor' } };
  return { kind: ofModule.has(name) ? 'module' : 'csv' };
}
