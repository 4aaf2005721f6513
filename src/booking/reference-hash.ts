/** Stands for a booking without a reference. */
export const noReference = 0;

/**
 * The hash by which a ledger finds the bookings of a reference: 32-bit FNV-1a over UTF-16 units. Ledgers store it, so
 * it must never change.
 */
export function hashReference(reference: string | undefined): number {
  if (reference === undefined) return noReference;
  let hash = 0x811c9dc5;
  for (let index = 0; index < reference.length; index += 1) {
    hash = Math.imul(hash ^ reference.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0 || noReference + 1;
}

/** The same for a reference in ASCII bytes. */
export function hashPlainReference(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let index = start; index < end; index += 1) hash = Math.imul(hash ^ (bytes[index] ?? 0), 0x01000193);
  return hash >>> 0 || noReference + 1;
}
