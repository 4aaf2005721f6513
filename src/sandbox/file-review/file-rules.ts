import { isCalendarDay } from '../../booking/business-day.js';
import { type TextProperty, textFields } from '../common/fields.js';
import type { BookedHotel } from '../outbox/outbox.js';

/** A review file that breaks a file rule. (Spec 4.3.) The offending text is left out: it may be a guest's name. */
export class BrokenFile extends Error {
  override readonly name = 'BrokenFile';

  /**
   * @param rule what is required
   * @param line counted from 1, including the header
   * @param column as named in the template; undefined for rules that aren't about a column
   */
  constructor(rule: string, line: number, column?: string) {
    super(`${column === undefined ? 'line' : `column ${column}, line`} ${line}: ${rule}`);
  }
}

const masterIdColumn = 'Service Mappings Id';
const template: readonly string[] = [masterIdColumn, ...textFields.map(({ name }) => name)];

const positiveInteger = /^[1-9]\d{0,15}$/;
const writtenDay = /^(\d{2})(\d{2})(\d{4})$/;

/**
 * Reads the header: exactly the template's columns, in any order. (Spec 2.6.)
 *
 * @returns reads the cells of a record, whose columns are in the order of the header
 * @throws BrokenFile, as the reading of a record does for its first invalid cell
 */
export function readHeader(
  header: readonly string[],
): (cells: readonly string[], line: number) => BookedHotel {
  for (const column of template) {
    const found = header.filter((name) => name === column).length;
    if (found === 0) throw new BrokenFile('all template columns are present, in exact case', 1, column);
    if (found > 1) throw new BrokenFile('each column is in the header once', 1, column);
  }
  const unknown = header.findIndex((name) => !template.includes(name));
  if (unknown >= 0)
    throw new BrokenFile(`no columns but the template's; cell ${unknown + 1} is not one of them`, 1);

  return (cells, line) => {
    if (cells.length !== header.length)
      throw new BrokenFile('every line has as many cells as the header', line);
    cells.forEach((cell, place) => {
      checkFilled(cell, line, header[place]);
    });
    const read = (column: string) => cells[header.indexOf(column)] ?? '';
    const serviceId = readServiceId(read(masterIdColumn), line);
    const texts = textFields.map(({ name, property, kind }) => [
      property,
      kind === 'date' ? readWrittenDay(read(name), line, name) : read(name),
    ]);
    return { serviceId, ...(Object.fromEntries(texts) as Record<TextProperty, string>) };
  };
}

/** Whether optional cells may be empty is not specified. (Assumed: they may not, like those that read NULL.) */
function checkFilled(cell: string, line: number, column: string | undefined): void {
  const text = cell.trim();
  if (text === '') throw new BrokenFile('no cell is empty or white space only', line, column);
  if (text.toLowerCase() === 'null') throw new BrokenFile('no cell reads NULL, in any case', line, column);
}

function readServiceId(cell: string, line: number): number {
  const serviceId = positiveInteger.test(cell) ? Number(cell) : Number.NaN;
  if (Number.isSafeInteger(serviceId)) return serviceId;
  const rule = `a service hotel id is an integer from 1 to ${Number.MAX_SAFE_INTEGER}, digits only`;
  throw new BrokenFile(rule, line, masterIdColumn);
}

function readWrittenDay(cell: string, line: number, column: string): string {
  const [, dayOfMonth, month, year] = writtenDay.exec(cell) ?? [];
  const day = `${year}-${month}-${dayOfMonth}`;
  if (isCalendarDay(day)) return day;
  throw new BrokenFile('a date is a calendar day as DDMMYYYY', line, column);
}
