import { type Booking, guestNameFields, listTexts, textFields } from '../../booking/booking.js';
import type { ProviderHotel } from '../../mappings/mapping-copy.js';
import {
  type BookingForms,
  type HotelOfLine,
  type LineWriter,
  markPlain,
  type TextForm,
} from '../delivery.js';

/** What stands between the quotes of a JSON string, as JSON.stringify has it. */
const jsonText: TextForm = {
  plain: markPlain((character) => JSON.stringify(character) === `"${character}"`),
  escape: (text) => JSON.stringify(text).slice(1, -1),
  after: Buffer.from('"'),
};
/** What stands before the text of each field. */
const beforeTexts = textFields.map(({ name }) => Buffer.from(`,"${name}":"`));
const closingBrace = Buffer.from('}');
const beforeText = ',"';
const beforeProviderName = ',"ProviderName":"';
const betweenNameAndId = '","ProviderHotelId":"';

/**
 * Makes the function that renders a booking as an element of `Hotels` (spec 2.5), compact, a missing field left out:
 * what JSON.stringify would write, in a third of its time. Strings of JSON hold no line end, so one item is one line.
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

/** The reference of a rendered item, read back. */
export function readReference(line: string): string | undefined {
  const { BookingReferenceId } = JSON.parse(line) as { BookingReferenceId?: string };
  return BookingReferenceId;
}

/**
 * Finds the hotel of a rendered item; undefined where the item doesn't name its provider's. No text of a booking can hold
 * what is looked for: a quote stands there behind a backslash.
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

/** Where the JSON string that goes on at `from` ends. */
function findClosingQuote(line: string, from: number): number {
  let at = line.indexOf('"', from);
  while (isEscaped(line, at)) at = line.indexOf('"', at + 1);
  return at;
}

/** Behind an odd number of backslashes. */
function isEscaped(line: string, at: number): boolean {
  let first = at;
  while (line[first - 1] === '\\') first -= 1;
  return (at - first) % 2 === 1;
}

/** Reads such a key. */
export function readProviderHotel(key: string): ProviderHotel {
  const { ProviderName, ProviderHotelId } = JSON.parse(`{"ProviderName":"${key}"}`) as {
    ProviderName: string;
    ProviderHotelId: string;
  };
  return { providerName: ProviderName, providerHotelId: ProviderHotelId };
}

/** The same items without the guests' names. */
export function blankNames(lines: Buffer): Buffer {
  const items = lines.toString().split('\n').slice(0, -1);
  return Buffer.from(items.map((item) => `${blankName(item)}\n`).join(''));
}

function blankName(line: string): string {
  const fields = Object.entries(JSON.parse(line) as Record<string, unknown>);
  return JSON.stringify(Object.fromEntries(fields.filter(([name]) => !guestNameFields.has(name))));
}

/** Every booking is kept as an item of a request body. */
export function createBodyForms(masterIdName: string): BookingForms {
  const renderItem = createItemRenderer(masterIdName);
  return {
    kind: 'body',
    formOf: () => 'body',
    render: (booking, _form, line) => renderItem(booking, line),
  };
}
