import { hashPlainText, hashText } from './text-hash.js';

/** Stands for a booking without a reference. */
export const noReference = 0;

/** The hash by which a ledger finds the bookings with a reference. */
export function hashReference(reference: string | undefined): number {
  return reference === undefined ? noReference : hashText(reference) || noReference + 1;
}

/** The same for a reference in ASCII bytes. */
export function hashPlainReference(bytes: Uint8Array, start: number, end: number): number {
  return hashPlainText(bytes, start, end) || noReference + 1;
}
