import { serviceFields } from '../../booking/booking.js';
import type { Examination, Examined } from '../../examination/examine-day.js';
import type { DatesRead } from '../../examination/guess-date-format.js';
import { commentOut, writeComment, writeOption, writeSetting, writeValue } from './setting-lines.js';

const indent = '  ';
const shownNames = 40;

/** What was found out about the records of any source. */
export function renderRecords(examination: Examination): string[] {
  return [...renderColumns(examination), ...renderDateFormat(examination)];
}

function renderColumns(examination: Examination): string[] {
  switch (examination.kind) {
    case 'no-file':
      return [
        ...writeComment('Where the columns have other names than the service gives them:', indent),
        ...sampleColumns(),
      ];
    case 'untried':
      return [
        ...writeComment(
          'Not tried when this was written. Where the columns have other names than the service gives them:',
          indent,
        ),
        ...sampleColumns(),
      ];
    case 'failed':
      return [
        ...writeComment(
          `Tried for ${examination.day} when this was written: ${endSentence(examination.reason)}`,
          indent,
        ),
        ...sampleColumns(),
      ];
    case 'unusable':
      return [
        ...writeComment(`${examination.place} was looked at, but ${endSentence(examination.reason)}`, indent),
        ...sampleColumns(),
      ];
    case 'examined':
      return renderFound(examination);
  }
}

function sampleColumns(): string[] {
  return commentOut(['  columns:', writeValue(['source', 'columns', 'ServiceId'], 'hotel_id')], indent);
}

function renderFound({ place, columns, missing, unused }: Examined): string[] {
  const ownNames = [...columns].flatMap(([field, name]) => (field === name ? [field] : []));
  const absent = serviceFields.filter((field) => field !== 'ServiceId' && !columns.has(field));
  const comments = [
    `Found in ${place} by the names of its columns: look whether they are right.`,
    ownNames.length > 0 && `Under the service's own names: ${ownNames.join(', ')}.`,
    absent.length > 0 && `Not found, so not sent: ${absent.join(', ')}. Say below which columns hold them.`,
    unused.length > 0 && describeUnused(columns.size, unused),
    missing.includes('ServiceId') && 'PLACEHOLDER: which column holds the master hotel id? It is needed.',
  ];
  return [
    ...comments.flatMap((text) => (text === false ? [] : writeComment(text, indent))),
    ...renderColumnSettings(columns),
  ];
}

/** The fields whose column has another name; commented out, those without one. */
function renderColumnSettings(columns: Examined['columns']): string[] {
  const settings = serviceFields.flatMap((field) => {
    const name = columns.get(field);
    if (name === field) return [];
    return [{ isKnown: name !== undefined, line: writeValue(['source', 'columns', field], name ?? '…') }];
  });
  if (settings.length === 0) return [];
  const group = '  columns:';
  if (!settings.some(({ isKnown }) => isKnown)) {
    return commentOut([group, ...settings.map(({ line }) => line)], indent);
  }
  return [
    group,
    ...settings.flatMap(({ isKnown, line }) => (isKnown ? [line] : commentOut([line], indent.repeat(2)))),
  ];
}

/** Where no name is known, it may be no header after all but a booking, and names a guest. */
function describeUnused(known: number, unused: readonly string[]): string {
  return known === 0
    ? `None of its ${unused.length} columns has a name that is known.`
    : `Columns that are not used: ${listNames(unused)}.`;
}

function listNames(names: readonly string[]): string {
  const shown = names.slice(0, shownNames).map((name) => JSON.stringify(name));
  const more = names.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}

function renderDateFormat(examination: Examination): string[] {
  const path = ['source', 'dateFormat'] as const;
  if (examination.kind !== 'examined') return writeOption(path);
  const { dates, place } = examination;
  switch (dates.kind) {
    case 'no-column':
      return [
        ...writeComment(
          `Which columns of ${place} hold dates is not known yet, so it can't be told how they are written. If not as ` +
            'YYYY-MM-DD, write it as a date-fns pattern:',
          indent,
        ),
        ...writeOption(path),
      ];
    case 'usual':
      return [...describeUnread(dates, place), ...writeOption(path)];
    case 'one':
      return [...describeUnread(dates, place), ...writeSetting(path, dates.format)];
    case 'several': {
      const formats = dates.readings.map(({ format }) => format);
      return [
        ...writeComment(
          `PLACEHOLDER: the dates of ${place} are ambiguous, they can be read as ${formats.join(' or ')}. Say which:`,
          indent,
        ),
        ...formats.flatMap((format) => commentOut([writeValue(path, format)], indent)),
      ];
    }
    case 'unknown':
      return [
        ...writeComment(
          `PLACEHOLDER: the dates of ${place} are in a form that was not recognised. Write it as a date-fns pattern:`,
          indent,
        ),
        ...commentOut([writeValue(path, 'dd/MM/yyyy')], indent),
      ];
  }
}

function describeUnread({ read, seen }: DatesRead, place: string): string[] {
  if (read === seen) return [];
  return writeComment(
    `Reads ${read} of the ${seen} dates at the beginning of ${place}. The others are not sent: a booking goes without them.`,
    indent,
  );
}

function endSentence(words: string): string {
  return /[.!?…]$/.test(words) ? words : `${words}.`;
}
