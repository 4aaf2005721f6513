import { type Booking, buildBooking, type ServiceField, textFields } from '../../booking/booking.js';
import type { GuestNames } from '../../booking/guest-names.js';
import { sliceLines } from '../../ledger/batches.js';
import type { Slice } from '../../ledger/step.js';
import type { BookingForms, LineForm } from '../delivery.js';
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

/**
 * Reads rendered items. They are searched for texts that can't occur inside a value, where a quote is escaped.
 */
export const itemForm: LineForm = {
  readBooking(line) {
    const fields = JSON.parse(line) as Readonly<Partial<Record<ServiceField, string>>>;
    // The master id comes first, whatever it was called when the line was rendered.
    const [serviceId] = Object.values(fields);
    const texts = textFields.map(({ name }) => fields[name]);
    return buildBooking(Number(serviceId), texts);
  },
  findHotel(line) {
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
  },
  readProviderHotel(key) {
    const { ProviderName, ProviderHotelId } = JSON.parse(`{"ProviderName":"${key}"}`) as {
      ProviderName: string;
      ProviderHotelId: string;
    };
    return { providerName: ProviderName, providerHotelId: ProviderHotelId };
  },
  writeProviderHotel: ({ providerName, providerHotelId }) =>
    `${jsonText.escape(providerName)}${betweenNameAndId}${jsonText.escape(providerHotelId)}`,
  findProvider: (line) => findText(line, beforeProviderName),
  blankFields(line, blanked) {
    const fields = Object.entries(JSON.parse(line) as Record<string, unknown>);
    return JSON.stringify(Object.fromEntries(fields.filter(([name]) => !blanked.has(name))));
  },
};

/** The text of a field as written. */
function findText(line: string, beforeField: string): string | undefined {
  const before = line.indexOf(beforeField);
  if (before === -1) return undefined;
  const start = before + beforeField.length;
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

const head = Buffer.from('{"Hotels":[');
const tail = Buffer.from(']}');
const lineFeed = 0x0a;
const comma = 0x2c;

/**
 * Builds the request body (spec 4.2) of a slice by copying the stored lines of its batch. Line feeds end the items
 * and occur nowhere else, so replacing them by commas makes the lines an array.
 */
export function buildRequestBody(lines: Buffer, slice: Pick<Slice, 'first' | 'bookings'>): Buffer {
  const items = sliceLines(lines, slice);
  const body = Buffer.concat([head, items.subarray(0, -1), tail]);
  for (let at = body.indexOf(lineFeed); at !== -1; at = body.indexOf(lineFeed, at + 1)) body[at] = comma;
  return body;
}
