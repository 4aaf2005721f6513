import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { codeOf } from '../text/safe-error.js';

type UnpackedBody =
  | { readonly kind: 'unpacked'; readonly body: Buffer }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'failed'; readonly code: 'unknown-compression' | 'damaged-compression' };

type Unpack = (body: Uint8Array, limit: { readonly maxOutputLength: number }) => Promise<Buffer>;

const decoders: ReadonlyMap<string, Unpack> = new Map<string, Unpack>([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
]);

/** The compression that a header `Content-Encoding` names; undefined for none (RFC 9110, 8.4). */
export function readCoding(header: string | undefined): string | undefined {
  const coding = header?.trim().toLowerCase() ?? '';
  return coding === '' || coding === 'identity' ? undefined : coding;
}

/** @param maxBytes limit of the output: a small body can expand to a very large one */
export async function unpackBody(body: Buffer, coding: string, maxBytes: number): Promise<UnpackedBody> {
  const unpack = decoders.get(coding);
  if (unpack === undefined) return { kind: 'failed', code: 'unknown-compression' };
  // The answer to HEAD, or 204: named, but not there.
  if (body.length === 0) return { kind: 'unpacked', body };
  try {
    return { kind: 'unpacked', body: await unpack(body, { maxOutputLength: maxBytes }) };
  } catch (error) {
    return codeOf(error) === 'ERR_BUFFER_TOO_LARGE'
      ? { kind: 'too-large' }
      : { kind: 'failed', code: 'damaged-compression' };
  }
}
