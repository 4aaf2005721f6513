import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { SourceError } from '../../../src/booking/source.js';
import { useBookingsApi } from './bookings-api.js';
import { readHttp } from './open-source.js';

const booking = (id: number) => ({ ServiceId: id, BookingClientName: 'Ann Guest-Canary' });
const pageOf = (...ids: number[]) => Buffer.from(JSON.stringify(ids.map(booking)));
const pagination = { kind: 'page', parameter: 'page' } as const;

/** An API with the given second page and an empty third one. */
async function useApi(encoding: string, body: Buffer) {
  return useBookingsApi(({ number }, response) => {
    if (number === 2) response.writeHead(200, { 'content-encoding': encoding }).end(body);
    else response.end(number === 1 ? pageOf(1) : '[]');
  });
}

describe('a response that was compressed on its way, although plain ones are requested', () => {
  it.each([
    ['gzip', gzipSync(pageOf(2, 3))],
    ['deflate', deflateSync(pageOf(2, 3))],
    ['br', brotliCompressSync(pageOf(2, 3))],
  ])('is read: %s', async (encoding, body) => {
    const api = await useApi(encoding, body);
    const { ids } = await readHttp({ url: `${api.origin}/{day}`, pagination });
    expect(ids).toEqual([1, 2, 3]);
    expect(api.requests[0]?.headers['accept-encoding']).toBe('identity');
  });

  it.each([
    ['cut off', 'gzip', gzipSync(pageOf(2, 3)).subarray(0, 40), 'damaged or truncated compressed data'],
    ['not packed at all', 'gzip', pageOf(2, 3), 'damaged or truncated compressed data'],
    ['compressed with an unknown method', 'zip', pageOf(2, 3), 'unsupported compression'],
    ['far larger than it looks', 'gzip', gzipSync(Buffer.alloc(1_000_000, ' ')), 'more than 65536 bytes'],
  ])('is an error, not the end of the day, if it is %s', async (_, encoding, body, words) => {
    const api = await useApi(encoding, body);
    const failure = await readHttp({ url: `${api.origin}/{day}`, pagination, maxPageBytes: 65_536 }).then(
      () => expect.fail('it is read'),
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(SourceError);
    expect(String(failure)).toContain(words);
    expect(String(failure)).not.toContain('Canary');
  });
});
