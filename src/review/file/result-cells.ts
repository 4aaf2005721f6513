import { isCalendarDay } from '../../booking/business-day.js';
import { readFieldText } from '../../booking/field-text.js';

/** The ways of writing a date: which of the three groups are year, month and day. */
const dateForms = [
  { form: /^(\d{2})(\d{2})(\d{4})$/, order: [3, 2, 1] },
  { form: /^(\d{2})[/.-](\d{2})[/.-](\d{4})$/, order: [3, 2, 1] },
  { form: /^(\d{4})[/.-](\d{2})[/.-](\d{2})$/, order: [1, 2, 3] },
] as const;
const timePart = /[T\s].*$/s;
/** Far more than the dates, or the providers, that one day's bookings name. */
const mostRemembered = 4096;
/** Longer than any date, verdict or provider's name. */
const longestRemembered = 64;

/** A cell's text as the bookings' were normalised before they were sent, so that equal fields are equal texts. */
export function readCellText(cell: string | undefined): string | undefined {
  const text = readFieldText(cell);
  return typeof text === 'string' ? text : undefined;
}

/** What a result says of a mapping; undefined for what is not understood. */
export function readVerdict(text: string | undefined): boolean | undefined {
  switch (text?.toLowerCase()) {
    case 'true':
    case 'yes':
    case '1':
    case 'correct':
      return true;
    case 'false':
    case 'no':
    case '0':
    case 'incorrect':
      return false;
    default:
      return undefined;
  }
}

/** The master id, 1 to 2^53-1. */
export function readServiceId(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,20}$/.test(text)) return undefined;
  const serviceId = Number(text);
  return Number.isSafeInteger(serviceId) && serviceId >= 1 ? serviceId : undefined;
}

/** Reads cells of a column that holds the same few texts again and again: each of them once. */
export function createRememberingReader<Content>(
  read: (text: string | undefined) => Content,
): (cell: string | undefined) => Content {
  const remembered = new Map<string, Content>();
  return (cell) => {
    if (cell === undefined) return read(undefined);
    const known = remembered.get(cell);
    if (known !== undefined) return known;
    const content = read(readCellText(cell));
    if (cell.length > longestRemembered) return content;
    if (remembered.size >= mostRemembered) remembered.clear();
    // A copy: a text cut out of a large block would keep the whole block in memory.
    remembered.set(Buffer.from(cell).toString(), content);
    return content;
  };
}

/**
 * A date as YYYY-MM-DD, from DDMMYYYY, DD/MM/YYYY, DD-MM-YYYY, YYYY-MM-DD and the like; a time part is cut. Undefined for
 * what is no calendar date.
 */
export function readResultDate(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const dayPart = text.replace(timePart, '');
  for (const { form, order } of dateForms) {
    const parts = form.exec(dayPart);
    if (parts === null) continue;
    const date = order.map((group) => parts[group]).join('-');
    if (isCalendarDay(date)) return date;
  }
  return undefined;
}
