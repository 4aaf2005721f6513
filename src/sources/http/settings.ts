import * as z from 'zod';
import {
  confidentiality,
  expected,
  group,
  groupByKind,
  headerText,
  isGroup,
  numberUpTo,
  oneOf,
  text,
  textThat,
  wholeNumber,
} from '../../settings/values.js';
import { recordSettings } from '../common/record-settings.js';
import { prepareHttpSource } from './day-pages.js';
import { checkHeaderName, checkUrlTemplate } from './request.js';

const hourInSeconds = 3_600;
const largestSize = 1_000_000;

const kind = <const Kind extends string>(name: Kind) =>
  z
    .literal(name, expected(name))
    .describe(
      'How the API hands out more bookings than one answer holds: `none`, `page` (by number), `offset`, `cursor` or `link` (header `Link`).',
    );
const parameter = () => text('the name of a parameter');
const behindLast = () =>
  oneOf('empty', 'not-found')
    .default('empty')
    .describe('What the API answers behind the last page: an `empty` list, or 404 or 410 (`not-found`).');

const pagination = groupByKind(
  [
    group({ kind: kind('none') }),
    group({
      kind: kind('page'),
      parameter: parameter().describe('The parameter that says where to go on.'),
      first: wholeNumber(0, 1).default(1).describe('The number of the first page.'),
      sizeParameter: parameter()
        .exactOptional()
        .describe('The parameter that says how many bookings a page is to hold.'),
      size: wholeNumber(1, largestSize).exactOptional().describe('How many bookings a page is to hold.'),
      behindLast: behindLast(),
    }).refine(({ sizeParameter, size }) => (sizeParameter === undefined) === (size === undefined), {
      error: 'must hold sizeParameter and size, or neither',
      when: ({ value }) => isGroup(value),
    }),
    group({
      kind: kind('offset'),
      parameter: parameter().describe('The parameter that says where to go on.'),
      limitParameter: parameter().describe('The parameter that says how many bookings to give.'),
      limit: wholeNumber(1, largestSize).describe('How many bookings to ask for at a time.'),
      behindLast: behindLast(),
    }),
    group({
      kind: kind('cursor'),
      parameter: parameter().exactOptional().describe('The parameter that says where to go on.'),
      field: text('a path such as meta.next').describe(
        'Where an answer holds what comes next: a text for `parameter`, or the address itself where there is none.',
      ),
    }),
    group({ kind: kind('link') }),
  ],
  'a group with kind',
);

/** Bookings from an HTTP API. */
export const http = group({
  kind: z.literal('http', expected('http')).describe('Where the bookings come from.'),
  url: z
    .string(expected('an address such as https://pms.example.com/bookings?day={day}'))
    .refine((url) => checkUrlTemplate(url) === undefined, {
      error: ({ input }) => checkUrlTemplate(String(input)),
    })
    .describe(
      'The address; `{day}` stands for the day as YYYY-MM-DD, `{day:ddMMyyyy}` for the day in that date-fns pattern, `{dayStart}` and `{dayEnd}` for its first instant and that of the next day.',
    )
    .register(confidentiality, { level: 'private' }),
  headers: z
    .record(
      textThat((name) => checkHeaderName(name) === undefined, 'the name of a header that can be set'),
      headerText(),
      expected('a group of headers, such as X-Api-Key'),
    )
    .describe('Headers of every call, such as that of an API key.')
    .register(confidentiality, { level: 'secret' })
    .exactOptional(),
  bearerToken: headerText()
    .describe('The token of `Authorization: Bearer`.')
    .register(confidentiality, { level: 'secret' })
    .exactOptional(),
  basic: group({
    username: textThat((name) => /^[^:]+$/.test(name), 'a text without a colon').describe(
      'The user name of `Authorization: Basic`.',
    ),
    password: text()
      .describe('The password of `Authorization: Basic`.')
      .register(confidentiality, { level: 'secret' }),
  })
    .describe('User name and password, where the API asks for them.')
    .exactOptional(),
  records: z
    .string(expected('a path such as data.bookings'))
    .default('')
    .describe(
      'Where an answer holds its list of bookings, such as `data.bookings`; empty where it is that list.',
    ),
  pagination: pagination.prefault({ kind: 'none' }).describe('How the API hands out its pages.'),
  ...recordSettings,
  timeoutSeconds: numberUpTo(hourInSeconds).default(60).describe('How long a whole call may take.'),
  connectTimeoutSeconds: numberUpTo(hourInSeconds).default(10).describe('How long connecting may take.'),
}).refine((source) => findObjection(source) === undefined, {
  error: ({ input }) => findObjection(input as Parameters<typeof prepareHttpSource>[0]),
  // What is wrong by itself is told already.
  when: ({ issues }) => issues.length === 0,
});

/** What is wrong with settings that are right each by itself; it quotes no value. */
function findObjection(source: Parameters<typeof prepareHttpSource>[0]): string | undefined {
  try {
    prepareHttpSource(source);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : undefined;
  }
}
