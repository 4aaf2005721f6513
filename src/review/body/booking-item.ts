import { type Booking, guestNameFields, listTexts, textFields } from '../../booking/booking.js';
import type { ProviderHotel } from '../../mappings/mapping-copy.js';
import {
  type BookingForms,
  type HotelOfLine,
  type LineWriter,
  markPlain,
  type TextForm,
} from '../delivery.js';

/** The inside of a JSON string, as JSON.stringify writes it. */
const jsonText: TextForm = {
  plain: markPlain((character) => JSON.stringify(character) === `"${character}"`),
  escape: (text) => JSON.stringify(text).slice(1, -1),
  after: Buffer.from('"'),
};
/** Written before the text of each field. */
const beforeTexts = textFields.map(({ name }) => Buffer.from(`,"${name}":"`));
const closingBrace = Buffer.from('}');
const beforeText = ',"';
const beforeProviderName = ',"ProviderName":"';
const betweenNameAndId = '","ProviderHotelId":"';

/**
 * Creates the function that renders a booking as an element of `Hotels` (spec 2.5), compact, without missing fields.
 * The output equals that of JSON.stringify in a third of the time. JSON strings contain no line ends, so an item is
 * one line.
 */
export function createItemRenderer(masterIdName: string): (booking: Booking, line: LineWriter) => void {
  const beginning = Buffer.from(`{${JSON.stringify(masterIdName)}:`);
  return (booking, line) => {
    line.constant(beginning);
    line.integer(booking.serviceId);
    const texts = listTexts(booking);
    for (let at = 0; at < texts.length; at += 1) {
      const before = beforeTexts[at];
      const text = texts[at];
      if (before && text !== undefined) line.field(before, text, jsonText);
    }
    line.constant(closingBrace);
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

/** The same items without guest names. */
export function blankNames(lines: Buffer): Buffer {
  const items = lines.toString().split('\n').slice(0, -1);
  return Buffer.from(items.map((item) => `${blankName(item)}\n`).join(''));
}

function blankName(line: string): string {
  const fields = Object.entries(JSON.parse(line) as Record<string, unknown>);
  return JSON.stringify(Object.fromEntries(fields.filter(([name]) => !guestNameFields.has(name))));
}

/** Stores every booking as an item of a request body. */
export function createBodyForms(masterIdName: string): BookingForms {
  const renderItem = createItemRenderer(masterIdName);
  return {
    kind: 'body',
    formOf: () => 'body',
    render: (booking, _form, line) => renderItem(booking, line),
  };
}
