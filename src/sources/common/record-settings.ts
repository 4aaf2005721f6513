import * as z from 'zod';
import { expected, group, oneOf, share, text, textLike, textThat } from '../../base/setting-values.js';
import { type ServiceField, serviceFields } from '../../booking/booking.js';
import { cleanText } from '../../booking/field-text.js';
import { instantChoices, isDateFormat } from '../../booking/written-date.js';

const fieldNames: ReadonlySet<string> = new Set(serviceFields);
const columnForms = 'the name of a column, or false';
const unwantedForms = 'a list of values, or startsWith: with a list of texts';
const valueForms = `a list of values, or not: with ${unwantedForms}`;
const value = z.union([z.string(), z.number(), z.boolean()], expected('a text, a number, true or false'));
const values = z.array(value).min(1, expected('at least one value'));
const beginning = textThat(
  (prefix) => prefix.trim() !== '',
  'a text such as TEST-, with quotes if it is a number',
);
const startsWith = z
  .array(beginning, expected('a list of texts, such as [TEST-]'))
  .min(1, expected('at least one text'));
const unwanted = z.union([values, group({ startsWith }, unwantedForms)], expected(unwantedForms));

const mostExtraColumns = 8;
/** The columns of lists, in lower case. */
const takenNames: ReadonlySet<string> = new Set([
  ...serviceFields.map((name) => name.toLowerCase()),
  ...['day', 'copyserviceid', 'verdictreason', 'reason', 'movedat', 'kept'],
]);

function namesMasterId(
  columns: {
    readonly [field in ServiceField]?: string | false;
  },
): columns is { readonly [field in ServiceField]?: field extends 'ServiceId' ? string : string | false } {
  return columns.ServiceId !== false;
}

/** How to understand the records of a source, of any kind. */
export const recordSettings = {
  columns: z
    .record(
      textThat((name) => fieldNames.has(name), serviceFields.join(' or ')),
      z.union([text(columnForms), z.literal(false)], expected(columnForms)),
      expected('a group of fields and columns, such as ServiceId: hotel_id'),
    )
    .refine(namesMasterId, { path: ['ServiceId'], error: expected('the name of a column') })
    .default({})
    .describe(
      "The names of the source's columns, by the service's names for the fields. In JSON these are members, such as `guest.name` in nested objects. A column that the source lacks fails the run: `ProviderHotelId: false` says that it has none.",
    ),
  where: z
    .record(
      text('the name of a column'),
      z.union([values, group({ not: unwanted }, valueForms)], expected(valueForms)),
      expected('a group of columns, such as Status: [CONF, OK]'),
    )
    .default({})
    .describe(
      "Which records are bookings to review, by the source's own columns: `Status: [CONF, OK]` takes those with one of these values, `Status: { not: [CANC] }` all others, `Reference: { not: { startsWith: [TEST-] } }` those that do not begin so. Upper and lower case are the same. The rest counts as filtered.",
    ),
  keep: z
    .record(
      textLike(/^[A-Za-z][A-Za-z0-9]{0,29}$/, `a name of up to 30 letters and digits, such as Price`).refine(
        (name) => !takenNames.has(name.toLowerCase()),
        'expected a name that lists do not use already, such as Price',
      ),
      text('the name of a column'),
      expected('a group of names and columns, such as Price: precio'),
    )
    .refine(
      (columns) => Object.keys(columns).length <= mostExtraColumns,
      expected(`at most ${mostExtraColumns} columns`),
    )
    .default({})
    .describe(
      "Up to eight further columns that are kept with each booking, by the names under which lists show them, such as `Price: precio`. They are never sent, and are removed with the guests' names. Values are cut after 200 characters.",
    ),
  maxRepeatedShare: share()
    .default(0.5)
    .describe(
      "The share of a day's bookings that may be equal in all fields to those of one of the eight days before; with more, the run fails before anything is sent. It counts from 20 bookings on. 1 turns it off.",
    ),
  missing: z
    .array(
      textThat((word) => cleanText(word) !== '', 'a text such as UNKNOWN, with quotes if it is a number'),
      expected('a list of texts, such as [UNKNOWN]'),
    )
    .default([])
    .describe(
      'Further texts that stand for a missing id or date, such as `UNKNOWN` or `"0"`. Upper and lower case are the same.',
    ),
  dateFormat: textThat(
    isDateFormat,
    'a date-fns pattern that reads back the day it writes, such as dd/MM/yyyy (yyyy year, MM month, dd day)',
  )
    .default('yyyy-MM-dd')
    .describe('The format of dates, as a date-fns pattern. YYYY-MM-DD is always understood.'),
  instants: oneOf(...instantChoices)
    .default('auto')
    .describe(
      "What an instant with a zone stands for in a column of dates, such as 2027-01-31T23:00:00Z: `convert` takes the date that the account's zone has then, `as-written` the date that it is written with. `auto` converts, with a warning, unless all of the first 1,000 records are at midnight UTC.",
    ),
};
