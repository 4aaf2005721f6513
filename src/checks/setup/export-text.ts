import { type ServiceField, serviceFields } from '../../booking/booking.js';
import type { RowFilter } from '../../sources/common/row-filter.js';
import { describeUnconfirmed } from '../examination/unconfirmed.js';
import { writeYaml } from '../examination/write-yaml.js';
import type { SourceText, Written } from './configuration-text.js';
import { type DateReading, type Examined, usualFormat } from './examine-export.js';

const shownNames = 40;

interface FoundExport {
  readonly examined: Examined;
  /** The file, from the configuration's folder. */
  readonly location: string;
  /** The same with a placeholder for the day. */
  readonly path: string;
  readonly encoding: string;
  /** What is cancelled and left out. */
  readonly where: RowFilter;
}

/** The settings of the source of which an export was examined. */
export function writeSource({ examined, location, path, encoding, where }: FoundExport): SourceText {
  const { kind, unconfirmed, delimiter = ',', skipRows = 0, isOfDayBefore } = examined;
  const given = (value: unknown, usual: unknown) => (value === usual ? {} : { yaml: writeYaml(value) });
  const settings: Readonly<Record<string, Written>> = {
    path: {
      yaml: writeYaml(path),
      ...(isOfDayBefore && { note: `${location} holds the bookings of the day before: ${isOfDayBefore}.` }),
    },
    encoding: given(encoding, 'utf-8'),
    delimiter: given(delimiter, ','),
    skipRows: given(skipRows, 0),
    columns: writeColumns(examined, location),
    where: {
      ...(Object.keys(where).length > 0 && { yaml: writeYaml(where) }),
      ...(unconfirmed && { note: `As \`init\` found it: ${describeUnconfirmed(unconfirmed)}` }),
    },
    dateFormat: writeDateFormat(examined.dates, location),
  };
  return { kind, settings, secrets: {} };
}

/** The fields whose columns have other names, and those without a column. */
function writeColumns({ columns, missing, unused }: Examined, location: string): Written {
  const ownNames = serviceFields.filter((field) => columns.get(field) === field);
  // If no name is known, the first line may not be a header but a booking, which names a guest.
  const others =
    columns.size === 0 ? `None of its ${unused.length} columns has a known name.` : describeUnused(unused);
  const absent = missing.filter((field) => field !== 'ServiceId');
  const notes = [
    `Found in ${location} by the names of its columns. Please check them.`,
    ownNames.length > 0 && `Under the service's own names: ${ownNames.join(', ')}.`,
    absent.length > 0 && describeAbsent(absent),
    unused.length > 0 && others,
    missing.includes('ServiceId') && 'PLACEHOLDER: which column holds the master hotel id? It is required.',
  ].filter((note) => note !== false);
  const written = serviceFields.flatMap((field) => {
    const name = columns.get(field) ?? (field === 'ServiceId' || columns.size === 0 ? field : false);
    return name === field ? [] : [`\n    ${field}: ${writeYaml(name)}`];
  });
  return { note: notes.join('\n'), ...(written.length > 0 && { yaml: written.join('') }) };
}

const describeAbsent = (fields: readonly ServiceField[]) =>
  `Not found: ${fields.join(', ')}. Name their columns in source.columns; false says that the source has none, and then they are not sent.`;

const describeUnused = (names: readonly string[]) => `Unused columns: ${listNames(names)}.`;

function listNames(names: readonly string[]): string {
  const shown = names.slice(0, shownNames).map((name) => JSON.stringify(name));
  const more = names.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}

function writeDateFormat(readings: readonly DateReading[] | undefined, location: string): Written {
  if (readings === undefined) return {};
  const [first, another] = readings;
  if (first === undefined)
    return {
      note: `PLACEHOLDER: the format of the dates in ${location} was not recognised. Write it as a date-fns pattern such as dd/MM/yyyy.`,
    };
  if (another !== undefined) {
    const formats = readings.map(({ format }) => format).join(' or ');
    return { note: `PLACEHOLDER: the dates of ${location} are ambiguous, ${formats}. Choose one.` };
  }
  const { format, read, seen } = first;
  return {
    ...(format !== usualFormat && { yaml: format }),
    ...(read < seen && {
      note: `Reads ${read} of the first ${seen} dates in ${location}. The others are left out of their bookings.`,
    }),
  };
}

/** What was understood of an export, for people. */
export function describeExport({ examined, location, path, encoding, where }: FoundExport): string {
  const { columns, missing, unused, unconfirmed, isOfDayBefore } = examined;
  const fields = [...columns].map(
    ([field, name]: [ServiceField, string]) => `${field}: ${JSON.stringify(name)}`,
  );
  return [
    `${location}: ${columns.size} of the 7 fields found by the names of its columns.${encoding === 'utf-8' ? '' : ` The file is in ${encoding}.`}`,
    ...fields,
    ...(missing.length > 0 ? [describeAbsent(missing)] : []),
    ...(missing.length > 0 && unused.length > 0 && columns.size > 0 ? [describeUnused(unused)] : []),
    `The file of a day: ${path}${isOfDayBefore ? `, named by the next day: ${isOfDayBefore}` : ''}`,
    ...(unconfirmed ? [describeUnconfirmed(unconfirmed)] : []),
    ...(Object.keys(where).length > 0
      ? [`Cancelled bookings are left out, and count as filtered: where: ${writeYaml(where)}`]
      : []),
  ].join('\n');
}

/** A source that lacks a column has no booking that could stand in the file. */
export function describeIncomplete({ missing }: Examined): Written {
  const absent = missing.filter((field) => field !== 'ServiceId');
  if (absent.length === 0) return {};
  return {
    note: `PLACEHOLDER: the source has no ${absent.join(', ')}, and a file may not have empty cells. Choose post, reject or leave-empty.`,
  };
}
