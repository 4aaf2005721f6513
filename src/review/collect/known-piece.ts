import type { Delivery } from '../delivery.js';
import type { DeliveredLines } from '../ledger.js';
import { createLineBuffer } from '../lines/line-buffer.js';
import type { BookingForm } from '../step.js';
import { readBooking } from '../stored/stored-line.js';

const lineFeed = Buffer.from('\n');

/** Lines that were delivered, as a delivery would render their bookings now. */
export interface KnownPiece {
  readonly bytes: Buffer;
  readonly view: DataView;
  readonly lines: readonly KnownLine[];
}

export interface KnownLine {
  readonly form: BookingForm;
  /** Where it stands in the bytes, up to its line feed. */
  readonly start: number;
  readonly end: number;
}

/**
 * Reads what was delivered as that delivery would send it: a booking has another line by body than in the file, and
 * another one where the service's name of the master id has changed. What the delivery doesn't carry is left out.
 */
export function toKnownPiece({ form, lines }: DeliveredLines, delivery: Delivery): KnownPiece {
  // All lines of a piece were rendered alike: where the first one comes out as it stands there, so do the others.
  const isAsItWas =
    form === delivery.kind && renderAgain(firstLine(lines), form, delivery).bytes.equals(firstLine(lines));
  return isAsItWas ? pieceOf(lines, () => form) : renderAgain(lines, form, delivery);
}

function renderAgain(lines: Buffer, form: BookingForm, delivery: Delivery): KnownPiece {
  const rendered = createLineBuffer(lines.length);
  const forms: BookingForm[] = [];
  for (const line of lines.toString().split('\n').slice(0, -1)) {
    const booking = readBooking(line, form);
    const now = delivery.formOf(booking);
    if (now === undefined) continue;
    delivery.render(booking, now, rendered);
    rendered.constant(lineFeed);
    forms.push(now);
  }
  return pieceOf(rendered.handOver(), (index) => forms[index] ?? form);
}

function pieceOf(bytes: Buffer, formOf: (index: number) => BookingForm): KnownPiece {
  const lines: KnownLine[] = [];
  let start = 0;
  for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, start)) {
    lines.push({ form: formOf(lines.length), start, end });
    start = end + 1;
  }
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), lines };
}

function firstLine(lines: Buffer): Buffer {
  return lines.subarray(0, lines.indexOf(lineFeed) + 1);
}
