import { unknownDatabase } from '../../base/setting-placeholders.js';
import type { AnswerRule, OptionsOf, SourceFlags } from '../common/setup.js';

const rule = (name: string, setting: string, url?: string): AnswerRule => ({
  name,
  setting: ['source', setting],
  beside: { source: { kind: 'sql', ...(url !== undefined && { url }) } },
});
export const urlRule = rule('sourceUrl', 'url');
/** @param url the address by whose rules the query is read */
export const queryRule = (url: string) => rule('query', 'query', url);

export const sqlFlags = {
  url: {
    value: '<url>',
    help: "the database's address, without a password",
    rule: { ...urlRule, isSecret: true },
    ifPassword:
      'others on this machine can read a password there; leave it out, and put the whole address as HOTEL_REVIEW_SOURCE_URL into the environment or into .env',
  },
  query: {
    value: '<text>',
    help: 'the query, with :day or :dayStart and :dayEnd',
    rule: ({ url }, known) =>
      queryRule(known('sourceUrl') ?? (typeof url === 'string' ? url : unknownDatabase)),
  },
  queryFile: { value: '<path>', help: 'the file that holds it' },
} as const satisfies SourceFlags;

export type SqlOptions = OptionsOf<typeof sqlFlags>;
