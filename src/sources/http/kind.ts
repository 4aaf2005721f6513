import * as z from 'zod';
import {
  confidentiality,
  expected,
  group,
  groupByKind,
  headerText,
  numberUpTo,
  objectionTo,
  text,
  textThat,
} from '../../base/setting-values.js';
import type { SourceKind } from '../common/kind.js';
import { recordSettings } from '../common/record-settings.js';
import { readAddress } from './pagination.js';
import { isHeaderName, parseUrlTemplate } from './request.js';

const paginationKind = <const Kind extends string>(name: Kind) =>
  z
    .literal(name, expected(name))
    .describe(
      'How the API splits a day into pages: `none`, `page` (by number), `offset`, `cursor` or `link` (header `Link`).',
    );
const parameter = () =>
  text('the name of a parameter').describe(
    'The parameter that selects the next page. If the address has a number for it, pages are counted from there: `…&page=0`.',
  );

const pagination = groupByKind(
  [
    group({ kind: paginationKind('none') }),
    group({ kind: paginationKind('page'), parameter: parameter() }),
    group({ kind: paginationKind('offset'), parameter: parameter() }),
    group({
      kind: paginationKind('cursor'),
      parameter: parameter().exactOptional(),
      field: text('a path such as meta.next').describe(
        'Where a response holds the cursor for `parameter` or, without `parameter`, the address of the next page.',
      ),
    }),
    group({ kind: paginationKind('link') }),
  ],
  'a group with kind',
);

/** How an API returns more records than fit in one response. */
export type HttpPagination = Readonly<z.output<typeof pagination>>;

/** Bookings from an HTTP API. */
const settings = group({
  kind: z.literal('http', expected('http')).describe('The bookings come from an HTTP API.'),
  url: z
    .string(expected('an address such as https://pms.example.com/bookings?day={day}'))
    .refine((url) => objectionTo(() => parseUrlTemplate(url)) === undefined, {
      error: ({ input }) => objectionTo(() => parseUrlTemplate(String(input))),
    })
    .describe(
      'The address, with the number of bookings per page where the API takes one: `…?day={day}&limit=100`. `{day}` stands for the day as YYYY-MM-DD, `{day:ddMMyyyy}` for the day in that date-fns pattern, `{dayStart}` and `{dayEnd}` for the first instants of the day and of the next day.',
    )
    .register(confidentiality, { level: 'private' }),
  headers: z
    .record(
      textThat(isHeaderName, 'the name of a header that can be set'),
      headerText(),
      expected('a group of headers, such as X-Api-Key'),
    )
    .describe('Headers sent with every request, such as `Authorization: "Bearer …"`.')
    .register(confidentiality, { level: 'secret' })
    .exactOptional(),
  records: z
    .string(expected('a path such as data.bookings'))
    .default('')
    .describe(
      'Where a response holds its list of bookings, such as `data.bookings`; empty if the response is that list.',
    ),
  pagination: pagination.prefault({ kind: 'none' }).describe('How the API splits a day into pages.'),
  ...recordSettings,
  timeoutSeconds: numberUpTo(3_600).default(60).describe('How long a whole request may take.'),
}).refine((source) => objectionTo(() => readAddress(source)) === undefined, {
  error: ({ input }) => objectionTo(() => readAddress(input as Parameters<typeof readAddress>[0])),
  // Problems of single settings have been reported already.
  when: ({ issues }) => issues.length === 0,
});

export type HttpSettings = z.output<typeof settings>;

const kind: SourceKind<HttpSettings> = {
  name: 'http',
  placeUnit: 'record',
  resolve: (source) => source,
  async open(source, parts) {
    const { createHttpSource } = await import('./http-source.js');
    const { retry, clock, random, proxy, peerClock, sourceMessages } = parts;
    return createHttpSource({
      ...source,
      timeoutMs: source.timeoutSeconds * 1000,
      ...{ retry, clock, random, proxy, peerClock },
      say: sourceMessages.say,
    });
  },
  async openSample(source, parts) {
    const { sampleObjects } = await import('../common/sample.js');
    return sampleObjects(await this.open(source, parts));
  },
};

export const http = { ...kind, settings };
