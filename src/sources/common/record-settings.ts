import { mapFields } from '../../booking/booking.js';
import { isDateFormat } from '../../booking/written-date.js';
import { group, text, textThat } from '../../settings/values.js';

const column = (meaning: string) =>
  text('the name of a column')
    .exactOptional()
    .describe(`The column with ${meaning}, if it has another name.`);

/** How to understand the records of a source, of any kind. */
export const recordSettings = {
  columns: group(mapFields(({ meaning }) => column(meaning)))
    .prefault({})
    .describe(
      "The names of the source's columns, by the service's names for the fields. In JSON they are members, `guest.name` in nested objects.",
    ),
  dateFormat: textThat(
    isDateFormat,
    'a date-fns pattern that reads back the day it writes, such as dd/MM/yyyy (yyyy year, MM month, dd day)',
  )
    .default('yyyy-MM-dd')
    .describe('The format of dates, as a date-fns pattern. YYYY-MM-DD is always understood.'),
};
