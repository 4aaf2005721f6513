import { type Booking, guestNameFields, textFields } from '../../booking/booking.js';
import type { GuestNames } from '../../booking/guest-names.js';
import { splitStoredLines } from '../../ledger/batches.js';
import type { ProviderHotel } from '../../ledger/mappings.js';
import type { BookingForms, HotelOfLine } from '../delivery.js';
import { type LineBuffer, type LineLayout, markPlain, renderLine, type TextForm } from '../line-buffer.js';

/** The inside of a JSON string, as JSON.stringify writes it. */
const jsonText: TextForm = {
  plain: markPlain((character) => JSON.stringify(character) === `"${character}"`),
  escape: (text) => JSON.stringify(text).slice(1, -1),
  after: Buffer.from('"'),
};
/** Written before the text of each field. */
const beforeTexts = textFields.map(({ name }) => Buffer.from(`,"${name}":"`));
const beforeText = ',"';
const beforeProviderName = ',"ProviderName":"';
const betweenNameAndId = '","ProviderHotelId":"';

/**
 * Creates the function that renders a booking as an element of `Hotels` (spec 2.5), compact, without missing fields.
 * The output equals that of JSON.stringify in a third of the time. JSON strings contain no line ends, so an item is
 * one line.
 */
export function createItemRenderer(masterIdName: string): (booking: Booking, line: LineBuffer) => void {
  const layout = createItemLayout(masterIdName);
  return (booking, line) => renderLine(booking, layout, line);
}

function createItemLayout(masterIdName: string): LineLayout {
  return {
    beginning: Buffer.from(`{${JSON.stringify(masterIdName)}:`),
    beforeTexts,
    text: jsonText,
    writeDate: (iso) => iso,
    missing: Buffer.alloc(0),
    ending: Buffer.from('}'),
  };
}

/** The booking reference of a rendered item. */
export function readReference(line: string): string | undefined {
  const { BookingReferenceId } = JSON.parse(line) as { BookingReferenceId?: string };
  return BookingReferenceId;
}

/**
 * Finds the hotel of a rendered item without parsing it; undefined if the item doesn't name the provider's hotel. The
 * searched texts can't occur inside a value, where a quote is escaped.
 */
export function findHotel(line: string): HotelOfLine | undefined {
  const start = line.indexOf(beforeProviderName);
  const middle = start === -1 ? -1 : line.indexOf(betweenNameAndId, start);
  if (middle === -1) return undefined;
  const idEnd = line.indexOf(beforeText);
  return {
    serviceId: Number(line.slice(line.lastIndexOf(':', idEnd) + 1, idEnd)),
    key: line.slice(
      start + beforeProviderName.length,
      findClosingQuote(line, middle + betweenNameAndId.length),
    ),
  };
}

/** Finds the provider's name of a rendered item, as written in it; undefined if the item doesn't name one. */
export function findProvider(line: string): string | undefined {
  const before = line.indexOf(beforeProviderName);
  if (before === -1) return undefined;
  const start = before + beforeProviderName.length;
  return line.slice(start, findClosingQuote(line, start));
}

/** The end of the JSON string that contains `from`. */
function findClosingQuote(line: string, from: number): number {
  let at = line.indexOf('"', from);
  while (isEscaped(line, at)) at = line.indexOf('"', at + 1);
  return at;
}

/** True after an odd number of backslashes. */
function isEscaped(line: string, at: number): boolean {
  let first = at;
  while (line[first - 1] === '\\') first -= 1;
  return (at - first) % 2 === 1;
}

/** Parses the key of a `HotelOfLine`. */
export function readProviderHotel(key: string): ProviderHotel {
  const { ProviderName, ProviderHotelId } = JSON.parse(`{"ProviderName":"${key}"}`) as {
    ProviderName: string;
    ProviderHotelId: string;
  };
  return { providerName: ProviderName, providerHotelId: ProviderHotelId };
}

/** The key that a `HotelOfLine` of this hotel has. */
export function writeProviderHotel({ providerName, providerHotelId }: ProviderHotel): string {
  return `${jsonText.escape(providerName)}${betweenNameAndId}${jsonText.escape(providerHotelId)}`;
}

/** The same items without guest names. */
export function blankNames(lines: Buffer): Buffer {
  const items = splitStoredLines(lines);
  return Buffer.from(items.map((item) => `${blankFields(item, guestNameFields)}\n`).join(''));
}

/** The same item without those fields. */
export function blankFields(line: string, blanked: ReadonlySet<string>): string {
  const fields = Object.entries(JSON.parse(line) as Record<string, unknown>);
  return JSON.stringify(Object.fromEntries(fields.filter(([name]) => !blanked.has(name))));
}

/** Stores every booking as an item of a request body. */
export function createBodyForms(masterIdName: string, names: GuestNames = 'send'): BookingForms {
  const layout = createItemLayout(masterIdName);
  return {
    kind: 'body',
    names,
    formOf: () => 'body',
    render: (booking, _form, line) => renderLine(booking, layout, line),
    usual: { form: 'body', layout, mayLackFields: true, standsForName: false },
  };
}
