import { type Booking, type ServiceField, serviceFields, textFields } from '../../booking/booking.js';
import type { BusinessDay } from '../../booking/business-day.js';
import { readExtraValue } from '../../booking/extra-values.js';
import { addDates, countDates, type DateCounts, noDates } from '../../booking/normalise.js';
import { type FilterColumn, filteredAtMost, SourceError } from '../../booking/source.js';
import { readNormalised } from '../../review/collect/day-reader.js';
import { maskBooking } from '../../review/stored/stored-line.js';
import { areTooManyRejects } from '../../rules/gates.js';
import { formatShare } from '../../rules/share.js';
import { describeFilters } from '../../rules/where-report.js';
import { kindOf, type SourceSettings } from '../../sources/registry.js';
import { type Finding, findingsOf, type SourceReading } from '../check.js';

const { ok, warning, wrong } = findingsOf('source');

const list = new Intl.ListFormat('en', { type: 'disjunction' });

const tryAnotherDay = 'Try another day with --day YYYY-MM-DD.';

/** How many bookings are shown. Then reading stops. */
const sampleSize = 5;
/** How many records are read for them at most, if a source returns more than was requested. */
const recordsTried = 300;

interface SourceCheckParts extends SourceReading {
  readonly day: BusinessDay;
  readonly maxRejectedShare: number;
  readonly emptyDay: 'succeed' | 'fail';
}

/** Reads the day's first records as a run would, until it has understood five. */
export async function checkSource(parts: SourceCheckParts, signal: AbortSignal): Promise<readonly Finding[]> {
  try {
    const sample = await readSample(parts, signal);
    const { where } = sample;
    const filters = where
      ? [ok(['source.where, of the first records:', ...describeFilters(where)].join('\n'))]
      : [];
    return [...judge(sample, parts), ...filters];
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    // Its message says what to fix; only here one may try another day.
    return [wrong(error.message, error.fault === 'missing' ? tryAnotherDay : undefined)];
  }
}

/** Queries and addresses without the day are refused; a path without it may be meant. */
export function warnOfSamePath(source: SourceSettings): readonly Finding[] {
  const path = kindOf(source).findSamePath?.(source);
  if (path === undefined) return [];
  return [
    warning(
      `${path} is the same for every day: a run reads whatever it holds then, perhaps the day before again`,
      'Put {day} into source.path. If that cannot be, see to it that the file is replaced before each run.',
    ),
  ];
}

interface Sample {
  readonly understood: { readonly booking: Booking; readonly extraValues: readonly unknown[] }[];
  readonly dates: DateCounts;
  readonly rejects: Map<string, { count: number; readonly firstPlace: number }>;
  /** The columns of `source.keep` that the source lacks. */
  readonly absentColumns: string[];
  read: number;
  filtered: number;
  /** What the columns of `source.where` hold. */
  where?: readonly FilterColumn[] | undefined;
  isWhole: boolean;
}

async function readSample(
  { source, normaliserFor, day }: SourceCheckParts,
  signal: AbortSignal,
): Promise<Sample> {
  const sample: Sample = {
    understood: [],
    dates: noDates(),
    rejects: new Map(),
    absentColumns: [],
    read: 0,
    filtered: 0,
    isWhole: false,
  };
  const reject = (place: number, reason: string) => {
    const before = sample.rejects.get(reason);
    if (before) before.count += 1;
    else sample.rejects.set(reason, { count: 1, firstPlace: place });
  };
  const reading = { signal, atMost: sampleSize };
  let isCut = false;
  for await (const { chunk, normalise } of readNormalised(source, day, normaliserFor, reading)) {
    const { records, filtered = 0, notices = [], where } = chunk;
    sample.filtered += filtered;
    sample.where = where ?? sample.where;
    for (const { column } of notices) sample.absentColumns.push(column);
    for (const record of records) {
      const isEnough = sample.understood.length === sampleSize || sample.read === recordsTried;
      // The records that follow show what `source.where` leaves out.
      if (isEnough && !where) return sample;
      isCut ||= isEnough;
      if (isEnough) break;
      sample.read += 1;
      if ('unreadable' in record) {
        reject(record.place, record.unreadable);
        continue;
      }
      const normalised = normalise(record.fields);
      if (normalised.kind === 'reject') {
        reject(record.place, normalised.reason);
        continue;
      }
      addDates(sample.dates, countDates(normalised.booking, normalised.warnings));
      sample.understood.push({ booking: normalised.booking, extraValues: record.extraValues ?? [] });
    }
  }
  // A source that returned as many as requested may have more.
  sample.isWhole = !isCut && sample.read !== sampleSize && sample.read + sample.filtered < filteredAtMost;
  return sample;
}

function judge(sample: Sample, parts: SourceCheckParts): Finding[] {
  const { source, day, maxRejectedShare, emptyDay, extraLabels } = parts;
  const { understood, dates, rejects, read, filtered, absentColumns, isWhole } = sample;
  const location = source.locate(day);
  if (read === 0 && !isWhole)
    return [
      warning(
        `${location}: source.where takes none of its first ${filtered} records`,
        'Check the columns and values of source.where.',
      ),
    ];
  if (read === 0) {
    const message = `${location} holds no booking${filtered > 0 ? ` that source.where takes: all ${filtered} records are filtered` : ''}`;
    return emptyDay === 'fail'
      ? [wrong(message, `${tryAnotherDay} If that is normal, set emptyDay: succeed.`)]
      : [warning(message, `Is that right? ${tryAnotherDay}`)];
  }
  const tried = isWhole ? `its ${read} records` : `its first ${read} records`;
  const reasons = [...rejects].map(
    ([reason, { count, firstPlace }]) => `${count} ${reason} (first at ${source.placeUnit} ${firstPlace})`,
  );
  const rejected = read - understood.length;
  const advice =
    'Check those records and the settings of source: columns says which column holds which field.';
  const isTooMany = areTooManyRejects(rejected, read, maxRejectedShare);
  if (understood.length === 0) {
    const finding = !isTooMany && emptyDay === 'succeed' ? warning : wrong;
    return [finding(`${location}: none of ${tried} can be sent: ${reasons.join(', ')}`, advice)];
  }

  const title = `${location}: ${understood.length} of ${tried} as understood, with names masked and – for missing values:`;
  const findings = [ok([title, ...understood.map((one) => showOnOneLine(one, extraLabels))].join('\n'))];
  findings.push(...warnOfNoHotel(understood.map(({ booking }) => booking)));
  if (rejected > 0) {
    const message = `${rejected} of ${tried} cannot be sent: ${reasons.join(', ')}`;
    findings.push(
      isTooMany
        ? warning(
            `${message}; a run fails if they are more than ${formatShare(maxRejectedShare)} of the day`,
            advice,
          )
        : ok(message),
    );
  }
  const badDates = [
    ...(dates.unreadable > 0
      ? [`${dates.unreadable} of the ${dates.given} dates in these bookings are not calendar dates`]
      : []),
    ...(dates.implausible > 0
      ? [
          `${dates.implausible} of the ${dates.checkIns} check-ins of these bookings are years away from the day`,
        ]
      : []),
  ];
  const format = 'Set source.dateFormat to the format of the dates, for example dd/MM/yyyy.';
  findings.push(...badDates.map((message) => warning(message, format)));
  if (absentColumns.length > 0) {
    const names = absentColumns.map((column) => JSON.stringify(column));
    findings.push(
      warning(
        `there is no column ${list.format(names)}, which source.keep names: nothing of it is kept`,
        'If it has another name, set that in source.keep.',
      ),
    );
  }
  return findings;
}

const hotelFields: readonly ServiceField[] = ['ProviderName', 'ProviderHotelId'];

/** A mapping leads from a provider's hotel: without it there is nothing to review. */
function warnOfNoHotel(bookings: readonly Booking[]): Finding[] {
  const absent = textFields.filter(
    ({ name, property }) =>
      hotelFields.includes(name) && bookings.every((booking) => booking[property] === undefined),
  );
  if (absent.length === 0) return [];
  const names = absent.map(({ name }) => name).join(' and no ');
  return [
    warning(
      `these bookings have no ${names}: the service cannot say whether their hotels are mapped correctly`,
      'If the source has such a column, name it in source.columns.',
    ),
  ];
}

/** Its fields in the service's order. Normalised texts have no line breaks. */
function showOnOneLine(
  { booking, extraValues }: Sample['understood'][number],
  labels: readonly string[],
): string {
  const fields = maskBooking(booking);
  const sent = serviceFields.map((field) => fields[field] ?? '–').join(', ');
  const values = labels.map((label, index) => `${label} ${readExtraValue(extraValues[index]) ?? '–'}`);
  return values.length === 0 ? sent : `${sent}; kept, not sent: ${values.join(', ')}`;
}
