import { isCalendarDay } from '../../booking/business-day.js';
import { type TextProperty, textFields } from '../common/fields.js';

/** The rule that a file breaks, and where. The offending text is left out: it may be a guest's name. */
interface Violation {
  /** What is required. */
  readonly rule: string;
  /** Counted from 1, including the header. */
  readonly line: number;
  /** As named in the template; undefined for rules that aren't about a column. */
  readonly column?: string | undefined;
}

/** A review file that breaks a file rule. (Spec 4.3.) */
export class BrokenFile extends Error {
  override readonly name = 'BrokenFile';

  constructor({ rule, line, column }: Violation) {
    super(`${column === undefined ? 'line' : `column ${column}, line`} ${line}: ${rule}`);
  }
}

/**
 * How the rule "values such as NULL, null or whitespace-only values must not appear" applies to the optional columns:
 * `refuse` takes an empty cell for such a value, `accept` for a field that the booking doesn't have. Which one the real
 * service applies is not specified. (Assumed: `refuse`.)
 */
export type EmptyCells = 'refuse' | 'accept';

/** A record of the file; dates as YYYY-MM-DD, empty cells absent. */
export interface FiledBooking extends Readonly<Partial<Record<TextProperty, string>>> {
  readonly serviceId: number;
}

/** Checks the cells of a file's records, whose columns are in the order of its header. */
export interface CellRules {
  /** @throws BrokenFile for the first invalid cell */
  readBooking(cells: readonly string[], line: number): FiledBooking;
}

const positiveInteger = /^[1-9]\d{0,15}$/;
const writtenDay = /^(\d{2})(\d{2})(\d{4})$/;

/**
 * Reads the header: exactly the template's columns, in any order. (Spec 2.6.)
 *
 * @param masterIdColumn what this deployment calls the master id's column
 * @throws BrokenFile
 */
export function readHeader(
  header: readonly string[],
  masterIdColumn: string,
  emptyCells: EmptyCells,
): CellRules {
  const template: readonly string[] = [masterIdColumn, ...textFields.map(({ name }) => name)];
  const line = 1;
  for (const column of template) {
    const found = header.filter((name) => name === column).length;
    if (found === 0)
      throw new BrokenFile({ rule: 'all template columns are present, in exact case', line, column });
    if (found > 1) throw new BrokenFile({ rule: 'each column is in the header once', line, column });
  }
  const unknown = header.findIndex((name) => !template.includes(name));
  if (unknown >= 0) {
    throw new BrokenFile({
      rule: `no columns but the template's; cell ${unknown + 1} is not one of them`,
      line,
    });
  }

  const masterIdPlace = header.indexOf(masterIdColumn);
  const places = textFields.map(({ name }) => header.indexOf(name));
  return {
    readBooking(cells, line) {
      cells.forEach((cell, place) => {
        if (cell === '' && emptyCells === 'accept' && place !== masterIdPlace) return;
        checkFilled(cell, line, header[place]);
      });
      const serviceId = readServiceId(cells[masterIdPlace] ?? '', line, masterIdColumn);
      const texts = textFields.map(({ name, property, kind }, index) => {
        const cell = cells[places[index] ?? -1] ?? '';
        if (cell === '') return [property, undefined];
        return [property, kind === 'date' ? readWrittenDay(cell, line, name) : cell];
      });
      return { serviceId, ...(Object.fromEntries(texts) as Partial<Record<TextProperty, string>>) };
    },
  };
}

function checkFilled(cell: string, line: number, column: string | undefined): void {
  const text = cell.trim();
  if (text === '') throw new BrokenFile({ rule: 'no cell is empty or white space only', line, column });
  if (text.length === 4 && text.toLowerCase() === 'null') {
    throw new BrokenFile({ rule: 'no cell reads NULL, in any case', line, column });
  }
}

function readServiceId(cell: string, line: number, column: string): number {
  const serviceId = positiveInteger.test(cell) ? Number(cell) : Number.NaN;
  if (Number.isSafeInteger(serviceId)) return serviceId;
  const rule = `a service hotel id is an integer from 1 to ${Number.MAX_SAFE_INTEGER}, digits only`;
  throw new BrokenFile({ rule, line, column });
}

function readWrittenDay(cell: string, line: number, column: string): string {
  const [, dayOfMonth, month, year] = writtenDay.exec(cell) ?? [];
  const day = `${year}-${month}-${dayOfMonth}`;
  if (isCalendarDay(day)) return day;
  throw new BrokenFile({ rule: 'a date is a calendar day as DDMMYYYY', line, column });
}
