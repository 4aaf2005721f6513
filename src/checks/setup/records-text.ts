import { serviceFields } from '../../booking/booking.js';
import type { Examination, Examined } from '../examination/examine-day.js';
import type { DatesRead } from '../examination/guess-date-format.js';
import { describeUnconfirmed, writeFilter } from '../examination/unconfirmed.js';
import { createSettingWriter } from './setting-writer.js';

const write = createSettingWriter();
const indent = '  ';
const shownNames = 40;

/** What an examined day shows about the records of a source, of any kind. */
export function renderRecords(examination: Examination): string[] {
  return [...renderColumns(examination), ...renderDateFormat(examination), ...renderFilter(examination)];
}

function renderFilter(examination: Examination): string[] {
  const { unconfirmed, where } = examination.kind === 'examined' ? examination : {};
  if (where !== undefined) {
    return [
      ...write.comment('Cancelled and unconfirmed bookings are left out. They count as filtered.', indent),
      `${indent}where: ${writeFilter(where)}`,
    ];
  }
  if (unconfirmed !== undefined) {
    return [
      ...describeUnconfirmed(unconfirmed)
        .split('\n')
        .flatMap((line) => write.comment(`${line}.`, indent)),
      ...write.comment('To leave them out, so that they count as filtered:', indent),
      ...write.commentOut([`${indent}where: ${writeFilter(unconfirmed.where)}`], indent),
    ];
  }
  return [
    ...write.comment(
      'If some records are not to be reviewed, such as cancelled bookings: the values (or not: …) of those that are, by ' +
        "the source's own columns. The rest counts as filtered.",
      indent,
    ),
    ...write.commentOut(['  where:', '    Status: [CONF, OK]'], indent),
  ];
}

function renderColumns(examination: Examination): string[] {
  switch (examination.kind) {
    case 'no-file':
      return [
        ...write.comment('If the columns have other names than those of the service:', indent),
        ...sampleColumns(),
      ];
    case 'untried':
      return [
        ...write.comment(
          'Not tried when this was written. If the columns have other names than those of the service:',
          indent,
        ),
        ...sampleColumns(),
      ];
    case 'failed':
      return [
        ...write.comment(
          `Tried for ${examination.day} when this was written: ${endSentence(examination.reason)}`,
          indent,
        ),
        ...sampleColumns(),
      ];
    case 'unusable':
      return [
        ...write.comment(
          `${examination.location} was examined, but ${endSentence(examination.reason)}`,
          indent,
        ),
        ...sampleColumns(),
      ];
    case 'examined':
      return renderFound(examination);
  }
}

function sampleColumns(): string[] {
  return write.commentOut(['  columns:', write.bare(['source', 'columns', 'ServiceId'], 'hotel_id')], indent);
}

function renderFound({ location, columns, missing, unused }: Examined): string[] {
  const ownNames = [...columns].flatMap(([field, name]) => (field === name ? [field] : []));
  const absent = serviceFields.filter((field) => field !== 'ServiceId' && !columns.has(field));
  const comments = [
    `Found in ${location} by the names of its columns. Please check them.`,
    ownNames.length > 0 && `Under the service's own names: ${ownNames.join(', ')}.`,
    absent.length > 0 &&
      `Not found: ${absent.join(', ')}. Name their columns below; false says that the source has none, and then they are not sent.`,
    unused.length > 0 && describeUnused(columns.size, unused),
    missing.includes('ServiceId') && 'PLACEHOLDER: which column holds the master hotel id? It is required.',
  ];
  return [
    ...comments.flatMap((text) => (text === false ? [] : write.comment(text, indent))),
    ...renderColumnSettings(columns),
  ];
}

/**
 * The fields whose columns have other names, and those without a column. Commented out is what must be filled in: the master
 * id's column, and all columns of a source in which none was recognised.
 */
function renderColumnSettings(columns: Examined['columns']): string[] {
  const settings = serviceFields.flatMap((field) => {
    const name = columns.get(field);
    if (name === field) return [];
    const path = ['source', 'columns', field] as const;
    const isOpen = name === undefined && (field === 'ServiceId' || columns.size === 0);
    return [{ isOpen, line: write.bare(path, name ?? (isOpen ? '…' : false)) }];
  });
  if (settings.length === 0) return [];
  const group = '  columns:';
  if (settings.every(({ isOpen }) => isOpen)) {
    return write.commentOut([group, ...settings.map(({ line }) => line)], indent);
  }
  return [
    group,
    ...settings.flatMap(({ isOpen, line }) => (isOpen ? write.commentOut([line], indent.repeat(2)) : [line])),
  ];
}

/** If no name is known, this may not be a header but a booking, which names a guest. */
function describeUnused(known: number, unused: readonly string[]): string {
  return known === 0
    ? `None of its ${unused.length} columns has a known name.`
    : `Unused columns: ${listNames(unused)}.`;
}

function listNames(names: readonly string[]): string {
  const shown = names.slice(0, shownNames).map((name) => JSON.stringify(name));
  const more = names.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}

function renderDateFormat(examination: Examination): string[] {
  const path = ['source', 'dateFormat'] as const;
  if (examination.kind !== 'examined') return write.option(path);
  const { dates, location } = examination;
  switch (dates.kind) {
    case 'no-column':
      return [
        ...write.comment(
          `The columns of ${location} that hold dates are not known yet, and so neither is their format. If it is not ` +
            'YYYY-MM-DD, write it as a date-fns pattern:',
          indent,
        ),
        ...write.option(path),
      ];
    case 'usual':
      return [...describeUnread(dates, location), ...write.option(path)];
    case 'one':
      return [...describeUnread(dates, location), ...write.setting(path, dates.format)];
    case 'several': {
      const formats = dates.readings.map(({ format }) => format);
      return [
        ...write.comment(
          `PLACEHOLDER: the dates of ${location} are ambiguous: ${formats.join(' or ')}. Choose one:`,
          indent,
        ),
        ...formats.flatMap((format) => write.commentOut([write.bare(path, format)], indent)),
      ];
    }
    case 'unknown':
      return [
        ...write.comment(
          `PLACEHOLDER: the format of the dates in ${location} was not recognised. Write it as a date-fns pattern:`,
          indent,
        ),
        ...write.commentOut([write.bare(path, 'dd/MM/yyyy')], indent),
      ];
  }
}

function describeUnread({ read, seen }: DatesRead, location: string): string[] {
  if (read === seen) return [];
  return write.comment(
    `Reads ${read} of the first ${seen} dates in ${location}. The others are left out of their bookings.`,
    indent,
  );
}

function endSentence(words: string): string {
  return /[.!?…]$/.test(words) ? words : `${words}.`;
}
