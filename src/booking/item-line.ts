import { buildBooking, type ServiceField, textFields } from './booking.js';
import type { GuestNames } from './guest-names.js';
import type { BookingForms, LineForm } from './line-form.js';
import { type LineLayout, markPlain, renderLine, type TextForm } from './render-line.js';

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
  findProvider(line) {
    const before = line.indexOf(beforeProviderName);
    if (before === -1) return undefined;
    const start = before + beforeProviderName.length;
    return line.slice(start, findClosingQuote(line, start));
  },
  blankFields(line, blanked) {
    const fields = Object.entries(JSON.parse(line) as Record<string, unknown>);
    return JSON.stringify(Object.fromEntries(fields.filter(([name]) => !blanked.has(name))));
  },
};

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

/**
 * Stores every booking as an element of `Hotels` (spec 2.5), compact, without missing fields: what JSON.stringify writes, in a
 * third of the time. JSON strings contain no line ends, so an item is one line.
 */
export function createBodyForms(masterIdName: string, names: GuestNames = 'send'): BookingForms {
  const layout: LineLayout = {
    beginning: Buffer.from(`{${JSON.stringify(masterIdName)}:`),
    beforeTexts,
    text: jsonText,
    writeDate: (iso) => iso,
    missing: Buffer.alloc(0),
    ending: Buffer.from('}'),
  };
  return {
    kind: 'body',
    names,
    formOf: () => 'body',
    render: (booking, _form, line) => renderLine(booking, layout, line),
    usual: { form: 'body', layout, mayLackFields: true, standsForName: false },
  };
}
