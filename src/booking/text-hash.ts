const prime = 0x01000193;

/** The hash of the empty text. */
export const emptyHash = 0x811c9dc5;

/**
 * 32-bit FNV-1a over UTF-16 units. Ledgers store such hashes, so it must never change.
 *
 * @param before the hash of what precedes the text
 */
export function hashText(text: string, before = emptyHash): number {
  let hash = before;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), prime);
  return hash >>> 0;
}

/** The same for a text in ASCII bytes. */
export function hashPlainText(bytes: Uint8Array, start: number, end: number, before = emptyHash): number {
  let hash = before;
  for (let index = start; index < end; index += 1) hash = Math.imul(hash ^ (bytes[index] ?? 0), prime);
  return hash >>> 0;
}
