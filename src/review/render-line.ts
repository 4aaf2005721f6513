import { type Booking, listTexts, textFields } from '../booking/booking.js';
import type { LineLayout } from './delivery.js';
import type { LineBuffer } from './line-buffer.js';

const isDate = textFields.map(({ kind }) => kind === 'date');

/** Renders a booking as one line, without a line end. */
export function renderLine(booking: Booking, layout: LineLayout, line: LineBuffer): void {
  const { beforeTexts, writeDate, missing } = layout;
  line.constant(layout.beginning);
  line.constant(Buffer.from(String(booking.serviceId)));
  const texts = listTexts(booking);
  for (let at = 0; at < texts.length; at += 1) {
    const before = beforeTexts[at];
    const text = texts[at];
    if (before === undefined || text === undefined) line.constant(missing);
    else line.field(before, isDate[at] ? writeDate(text) : text, layout.text);
  }
  line.constant(layout.ending);
}
