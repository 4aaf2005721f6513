import { isCalendarDay } from '../../booking/business-day.js';

/** The ways of writing a date: which of the three groups are year, month and day. */
const dateForms = [
  { form: /^(\d{2})(\d{2})(\d{4})$/, order: [3, 2, 1] },
  { form: /^(\d{2})[/.-](\d{2})[/.-](\d{4})$/, order: [3, 2, 1] },
  { form: /^(\d{4})[/.-](\d{2})[/.-](\d{2})$/, order: [1, 2, 3] },
] as const;
const timePart = /[T\s].*$/s;
/** Far more than the dates that one day's bookings name. */
const maxRemembered = 4096;

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

/**
 * Makes a reader of dates as YYYY-MM-DD, from DDMMYYYY, DD/MM/YYYY, DD-MM-YYYY, YYYY-MM-DD and the like; a time part is
 * cut. Undefined for what is no calendar date.
 */
export function createResultDateReader(): (text: string | undefined) => string | undefined {
  // The bookings of a day name the same dates again and again.
  const remembered = new Map<string, string | undefined>();
  return (text) => {
    if (text === undefined) return undefined;
    if (remembered.has(text)) return remembered.get(text);
    const date = readDate(text.replace(timePart, ''));
    if (remembered.size >= maxRemembered) remembered.clear();
    // A copy: a text cut out of a large block would keep the whole block in memory.
    remembered.set(Buffer.from(text).toString(), date);
    return date;
  };
}

function readDate(text: string): string | undefined {
  for (const { form, order } of dateForms) {
    const parts = form.exec(text);
    if (parts === null) continue;
    const date = order.map((group) => parts[group]).join('-');
    if (isCalendarDay(date)) return date;
  }
  return undefined;
}
