import { holdsPassword } from '../../config/locations.js';
import { unknownDatabase } from '../../config/placeholders.js';
import { UsageError } from '../../review/refusals.js';
import type { InitOptions } from '../init-options.js';
import { checkHeader } from '../questions/api.js';
import { checkDotEnvValue } from '../render/dot-env.js';
import { type AnswerName, checkAnswer } from './check-answer.js';
import type { SourceKind } from './source-answers.js';
import { impliedKind, suggestKind } from './source-kind.js';

const list = new Intl.ListFormat('en', { type: 'disjunction' });
const files = ['csv', 'ndjson'] as const;

/** The options that are answers, as they are written on the command line, and the kinds of source that they go with. */
const flags = [
  { name: 'timezone', flag: '--timezone' },
  { name: 'baseUrl', flag: '--base-url' },
  { name: 'delivery', flag: '--delivery' },
  { name: 'sftpHost', flag: '--sftp-host' },
  { name: 'sftpPort', flag: '--sftp-port' },
  { name: 'sftpUsername', flag: '--sftp-username' },
  { name: 'sftpKeyFile', flag: '--sftp-key-file' },
  { name: 'path', flag: '--path', kinds: ['csv', 'ndjson', 'module'] },
  { name: 's3Endpoint', flag: '--s3-endpoint', kinds: files },
  { name: 's3Region', flag: '--s3-region', kinds: files },
  { name: 'sourceSftpUsername', flag: '--source-sftp-username', kinds: files },
  { name: 'sourceSftpKeyFile', flag: '--source-sftp-key-file', kinds: files },
  { name: 'sourceSftpHostKey', flag: '--source-sftp-host-key', kinds: files },
  { name: 'url', flag: '--url', kinds: ['sql', 'http'] },
  { name: 'query', flag: '--query', kinds: ['sql'] },
  { name: 'queryFile', flag: '--query-file', kinds: ['sql'] },
  { name: 'auth', flag: '--auth', kinds: ['http'] },
  { name: 'authName', flag: '--auth-name', kinds: ['http'] },
  { name: 'records', flag: '--records', kinds: ['http'] },
  { name: 'pagination', flag: '--pagination', kinds: ['http'] },
  { name: 'pageParameter', flag: '--page-parameter', kinds: ['http'] },
  { name: 'firstPage', flag: '--first-page', kinds: ['http'] },
  { name: 'pageSizeParameter', flag: '--page-size-parameter', kinds: ['http'] },
  { name: 'pageSize', flag: '--page-size', kinds: ['http'] },
  { name: 'cursorField', flag: '--cursor-field', kinds: ['http'] },
] as const satisfies readonly {
  readonly name: keyof InitOptions;
  readonly flag: string;
  readonly kinds?: readonly SourceKind[];
}[];

type FlagName = (typeof flags)[number]['name'];

/** The options that go with one value of another option alone. */
const companions: readonly {
  readonly name: FlagName;
  readonly of: 'pagination' | 'auth';
  readonly values: readonly string[];
}[] = [
  { name: 'authName', of: 'auth', values: ['basic', 'header'] },
  { name: 'pageParameter', of: 'pagination', values: ['page', 'offset', 'cursor'] },
  { name: 'firstPage', of: 'pagination', values: ['page'] },
  { name: 'pageSizeParameter', of: 'pagination', values: ['page', 'offset'] },
  { name: 'pageSize', of: 'pagination', values: ['page', 'offset'] },
  { name: 'cursorField', of: 'pagination', values: ['cursor'] },
];

interface Circumstances {
  /** Whether there is somebody to ask for what no option says. */
  readonly asks: boolean;
  /** The address of the database, where the environment or a `.env` that is kept has one. */
  readonly database: string | undefined;
}

/** @throws UsageError for an option that the configuration would not take, or that goes with something else */
export function checkOptions(options: InitOptions, { asks, database }: Circumstances): void {
  const kind =
    impliedKind(options) ?? (asks && options.path === undefined ? undefined : suggestKind(options.path));
  for (const { name, flag, ...goesWith } of flags) {
    const value = options[name];
    if (value === undefined) continue;
    if ('kinds' in goesWith) checkKind(flag, goesWith.kinds, kind);
    const complaint = complainAbout(name, String(value), {
      kind,
      auth: options.auth,
      database: database ?? options.url,
    });
    if (complaint !== undefined) throw new UsageError(`${flag}: ${complaint}`);
    if (flag.startsWith('--sftp-') && options.delivery === 'body') {
      throw new UsageError(`${flag} goes with --delivery file`);
    }
  }
  checkPlace(options);
  checkCompanions(options);
  checkDatabase(options, database);
  if (options.pagination === 'cursor' && options.cursorField === undefined && !asks) {
    throw new UsageError(
      '--pagination cursor needs --cursor-field: with a wrong field a day would seem to be of one page',
    );
  }
  if (
    options.pageSize !== undefined &&
    options.pagination === 'page' &&
    options.pageSizeParameter === undefined
  ) {
    throw new UsageError('--page-size goes with --page-size-parameter, the parameter that takes it');
  }
}

/** Whoever names a server wants the delivery by file. */
export function namesServer(options: InitOptions): boolean {
  return flags.some(({ name, flag }) => flag.startsWith('--sftp-') && options[name] !== undefined);
}

function checkKind(flag: string, kinds: readonly SourceKind[], kind: SourceKind | undefined): void {
  if (kind === undefined || kinds.includes(kind)) return;
  throw new UsageError(`${flag} goes with --kind ${list.format(kinds)}`);
}

interface Beside {
  readonly kind: SourceKind | undefined;
  readonly auth: InitOptions['auth'];
  /** By whose rules a query is read. */
  readonly database: string | undefined;
}

function complainAbout(name: FlagName, value: string, { kind, auth, database }: Beside): string | undefined {
  switch (name) {
    // They are of a few words, which the command line has looked at.
    case 'auth':
    case 'pagination':
    case 'firstPage':
      return undefined;
    case 'authName':
      return auth === 'header' ? checkHeader(value) : checkAnswer('basicUsername', value);
    case 'path':
      return checkAnswer(kind === 'module' ? 'modulePath' : 'path', value);
    case 'url':
      return checkUrl(value, kind);
    case 'query':
      return checkAnswer('query', value, database ?? unknownDatabase);
    default:
      return checkAnswer(name satisfies AnswerName, value);
  }
}

function checkUrl(value: string, kind: SourceKind | undefined): string | undefined {
  if (!holdsPassword(value)) {
    return kind === 'sql'
      ? (checkAnswer('sourceUrl', value) ?? checkDotEnvValue(value))
      : checkAnswer('url', value);
  }
  return kind === 'sql'
    ? 'others on this machine can read a password there; leave it out, and put the whole address as HOTEL_REVIEW_SOURCE_URL into the environment or into .env'
    : 'others on this machine can read a key there; leave it out, and say with --auth how the API knows who asks';
}

function checkPlace(options: InitOptions): void {
  const { path = '' } = options;
  for (const { name, flag } of flags) {
    if (options[name] === undefined) continue;
    if (flag.startsWith('--s3-') && !/^s3:/i.test(path)) {
      throw new UsageError(`${flag} goes with a --path of s3://…`);
    }
    if (flag.startsWith('--source-sftp-') && !/^sftp:/i.test(path)) {
      throw new UsageError(`${flag} goes with a --path of sftp://…`);
    }
  }
}

function checkCompanions(options: InitOptions): void {
  for (const { name, of, values } of companions) {
    const value = options[of];
    if (options[name] === undefined || (value !== undefined && values.includes(value))) continue;
    const { flag = '' } = flags.find((one) => one.name === name) ?? {};
    throw new UsageError(`${flag} goes with --${of} ${list.format(values)}`);
  }
}

function checkDatabase({ url, query, queryFile }: InitOptions, known: string | undefined): void {
  if (query !== undefined && queryFile !== undefined) {
    throw new UsageError('--query and --query-file say the same: only one of them');
  }
  if (url !== undefined && !/^https?:/i.test(url) && known !== undefined) {
    throw new UsageError(
      '--url: HOTEL_REVIEW_SOURCE_URL is set, in the environment or in .env, and would come before it; leave one of them out',
    );
  }
}
