import { mapFields } from '../../booking/booking.js';
import { isDateFormat } from '../../booking/written-date.js';
import { group, text, textThat } from '../../settings/values.js';

const column = (meaning: string) =>
  text('the name of a column')
    .exactOptional()
    .describe(`The column that holds ${meaning}, if not the one of that name.`);

/** How the records of any source are to be understood. */
export const recordSettings = {
  columns: group(mapFields(({ meaning }) => column(meaning)))
    .prefault({})
    .describe(
      "The source's columns by the service's names of the fields; in JSON the objects' members, `guest.name` in nested ones.",
    ),
  dateFormat: textThat(
    isDateFormat,
    'a date-fns pattern that reads back the day it writes, such as dd/MM/yyyy (yyyy year, MM month, dd day)',
  )
    .default('yyyy-MM-dd')
    .describe('The date-fns pattern of the dates; YYYY-MM-DD is always understood.'),
};
