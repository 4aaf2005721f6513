import { type Booking, serviceFields } from '../booking/booking.js';
import type { BusinessDay } from '../booking/business-day.js';
import { countDates, type Normalise } from '../booking/normalise.js';
import { formatShare, isMoreThanShare } from '../review/share.js';
import { type BookingSource, SourceError } from '../review/source.js';
import { maskBooking } from '../review/stored/stored-line.js';
import { type Finding, findingsOf } from './finding.js';

const { ok, warning, wrong } = findingsOf('source');

const list = new Intl.ListFormat('en', { type: 'disjunction' });

/** How many bookings are shown; then the reading stops. */
const sampleSize = 5;
/** How many records are tried for them, of a source that gives more than it is asked for. */
const recordsTried = 300;

interface SourceCheckParts {
  readonly source: BookingSource;
  readonly normalise: Normalise;
  readonly day: BusinessDay;
  readonly maxRejectedShare: number;
  readonly emptyDay: 'succeed' | 'fail';
}

/** Reads the day's first records as a run would, until five of them are understood. */
export async function checkSource(parts: SourceCheckParts, signal: AbortSignal): Promise<readonly Finding[]> {
  try {
    return judge(await readSample(parts, signal), parts);
  } catch (error) {
    if (error instanceof SourceError) return [wrong(error.message, adviseOn(error, parts.day))];
    throw error;
  }
}

interface Sample {
  readonly understood: Booking[];
  readonly dates: { given: number; unreadable: number };
  readonly rejects: Map<string, { count: number; readonly firstPlace: number }>;
  readonly absentColumns: string[];
  read: number;
  isWhole: boolean;
}

async function readSample(
  { source, normalise, day }: SourceCheckParts,
  signal: AbortSignal,
): Promise<Sample> {
  const sample: Sample = {
    understood: [],
    dates: { given: 0, unreadable: 0 },
    rejects: new Map(),
    absentColumns: [],
    read: 0,
    isWhole: false,
  };
  const reject = (place: number, reason: string) => {
    const before = sample.rejects.get(reason);
    if (before) before.count += 1;
    else sample.rejects.set(reason, { count: 1, firstPlace: place });
  };
  for await (const { records, notices = [] } of source.read(day, { signal, atMost: sampleSize })) {
    sample.absentColumns.push(...notices.map(({ column }) => column));
    for (const record of records) {
      if (sample.understood.length === sampleSize || sample.read === recordsTried) return sample;
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
      const { given, unreadable } = countDates(normalised.booking, normalised.warnings);
      sample.dates.given += given;
      sample.dates.unreadable += unreadable;
      sample.understood.push(normalised.booking);
    }
  }
  // Who gave as many as were asked for may have more.
  sample.isWhole = sample.read !== sampleSize;
  return sample;
}

function judge(sample: Sample, { source, day, maxRejectedShare, emptyDay }: SourceCheckParts): Finding[] {
  const { understood, dates, rejects, read, absentColumns, isWhole } = sample;
  const place = source.locate(day);
  if (read === 0) {
    return emptyDay === 'fail'
      ? [wrong(`${place} holds no booking, and emptyDay is set to fail`)]
      : [warning(`${place} holds no booking`, `Is that right? Another day is tried with --day YYYY-MM-DD.`)];
  }
  const tried = isWhole ? `its ${read} records` : `its first ${read} records`;
  const reasons = [...rejects].map(
    ([reason, { count, firstPlace }]) => `${count} ${reason} (first at ${source.placeUnit} ${firstPlace})`,
  );
  const rejected = read - understood.length;
  const mending =
    'Look at those records, and at the settings of source: columns says which column holds which field.';
  if (understood.length === 0)
    return [wrong(`${place}: of ${tried} none can be sent: ${reasons.join(', ')}`, mending)];

  const title = `${place}: of ${tried} ${understood.length} are shown as understood, names masked, – for what is missing:`;
  const findings = [ok([title, ...understood.map(showOnOneLine)].join('\n'))];
  if (rejected > 0) {
    const told = `of ${tried} ${rejected} cannot be sent: ${reasons.join(', ')}`;
    findings.push(
      isMoreThanShare(rejected, read, maxRejectedShare)
        ? warning(
            `${told}; a run fails when they are more than ${formatShare(maxRejectedShare)} of the day`,
            mending,
          )
        : ok(told),
    );
  }
  if (dates.unreadable > 0) {
    findings.push(
      warning(
        `${dates.unreadable} of the ${dates.given} dates of these bookings are no calendar dates`,
        'source.dateFormat says how the dates are written, for example dd/MM/yyyy.',
      ),
    );
  }
  if (absentColumns.length > 0) {
    const names = absentColumns.map((column) => JSON.stringify(column));
    findings.push(
      warning(
        `there is no column ${list.format(names)}: bookings go without`,
        'Where it stands there under another name, source.columns says so.',
      ),
    );
  }
  return findings;
}

/** Its seven fields in the service's order. Normalised texts hold no line ends. */
function showOnOneLine(booking: Booking): string {
  const fields = maskBooking(booking);
  return serviceFields.map((field) => fields[field] ?? '–').join(', ');
}

function adviseOn({ fault }: SourceError, day: BusinessDay): string {
  switch (fault) {
    case 'missing':
      return `Name a day for which it is there with --day YYYY-MM-DD (${day.iso} was tried), or mend the settings of source.`;
    case 'unreadable':
      return 'Mend that, or the settings of source.';
    case 'missing-column':
    case 'ambiguous-column':
      return 'source.columns says which column holds which field.';
    case 'empty':
    case 'binary':
    case 'unterminated-quote':
      return 'Look at how the bookings are written, and whether that is over when they are read.';
    case 'truncated':
      return 'Look whether they were still being written, or the way to them broke; then try again.';
  }
}
