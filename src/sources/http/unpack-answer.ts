import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';

export type UnpackedAnswer =
  | { readonly kind: 'unpacked'; readonly body: Buffer }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'broken' }
  /** Packed in a way that is not known here. */
  | { readonly kind: 'unknown' };

type Unpack = (body: Uint8Array, limit: { readonly maxOutputLength: number }) => Promise<Buffer>;

const ways: ReadonlyMap<string, Unpack> = new Map<string, Unpack>([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
]);

/**
 * An answer's body as it was before it was packed: plain answers are asked for, but what stands between may pack them all.
 *
 * @param encoding the header `Content-Encoding`, unread (RFC 9110, 8.4)
 * @param maxBytes of what comes out: a small body can hold a very large one
 */
export async function unpackAnswer(
  body: Buffer,
  encoding: string | undefined,
  maxBytes: number,
): Promise<UnpackedAnswer> {
  const way = encoding?.trim().toLowerCase() ?? '';
  if (way === '' || way === 'identity') return { kind: 'unpacked', body };
  const unpack = ways.get(way);
  if (unpack === undefined) return { kind: 'unknown' };
  try {
    return { kind: 'unpacked', body: await unpack(body, { maxOutputLength: maxBytes }) };
  } catch (error) {
    const isTooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    return { kind: isTooLarge ? 'too-large' : 'broken' };
  }
}
