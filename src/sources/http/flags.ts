import type { AnswerRule, OptionsOf, SourceFlags } from '../common/setup.js';
import { checkHeaderName } from './request.js';

const rule = (name: string, ...setting: string[]): AnswerRule => ({
  name,
  setting: ['source', ...setting],
  beside: { source: { kind: 'http' } },
});
const ofPages = (name: string, kind: string, setting: string): AnswerRule => ({
  name,
  setting: ['source', 'pagination', setting],
  beside: { source: { kind: 'http', pagination: { kind } } },
});

/** How the answers about an API are checked. */
export const httpRules = {
  url: rule('url', 'url'),
  records: rule('records', 'records'),
  token: rule('sourceToken', 'headers', 'Authorization'),
  key: rule('sourceKey', 'headers', 'X-Api-Key'),
  headerName: {
    name: 'headerName',
    check: (name: string) =>
      checkHeaderName(name) === undefined ? undefined : 'expected the name of a header that can be set',
  },
  pageParameter: ofPages('pageParameter', 'page', 'parameter'),
  cursorField: ofPages('cursorField', 'cursor', 'field'),
} as const satisfies Record<string, AnswerRule>;

const goesWith = (option: string, ...values: readonly string[]) => ({ option, values });

export const httpFlags = {
  url: {
    value: '<url>',
    help: "the API's address",
    rule: httpRules.url,
    ifPassword:
      'others on this machine can read a key there; leave it out, and say with --auth how the API authenticates callers',
  },
  auth: { value: '<how>', help: 'how to authenticate', choices: ['none', 'bearer', 'header'] },
  authName: {
    value: '<name>',
    help: 'the name of the header',
    rule: httpRules.headerName,
    goesWith: goesWith('auth', 'header'),
  },
  records: {
    value: '<path>',
    help: 'where a response holds its list of bookings: data.bookings',
    rule: httpRules.records,
  },
  pagination: {
    value: '<how>',
    help: 'how the API paginates',
    choices: ['none', 'page', 'offset', 'cursor', 'link'],
  },
  pageParameter: {
    value: '<name>',
    help: 'the parameter that selects the page',
    rule: httpRules.pageParameter,
    goesWith: goesWith('pagination', 'page', 'offset', 'cursor'),
  },
  firstPage: {
    value: '<number>',
    help: 'the number of the first page',
    choices: ['0', '1'],
    goesWith: goesWith('pagination', 'page'),
  },
  cursorField: {
    value: '<path>',
    help: 'the field that holds the next cursor: meta.next',
    rule: httpRules.cursorField,
    goesWith: goesWith('pagination', 'cursor'),
  },
} as const satisfies SourceFlags;

export type HttpOptions = OptionsOf<typeof httpFlags>;
