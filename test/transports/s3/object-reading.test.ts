import { Readable } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { S3Error } from '../../../src/transports/s3/bucket.js';
import { type ArrivingObject, readObject } from '../../../src/transports/s3/reading.js';

const whole = Buffer.from('0123456789');

describe('reading an object', () => {
  it('continues after what arrived, as long as there is progress', async () => {
    const { asked, read } = prepare((from) => arrive(from, { bytes: 1, isCut: true }));
    expect(await read()).toEqual(whole);
    expect(asked).toEqual([undefined, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('stops at the announced size, even if the body does not end', async () => {
    async function* endless() {
      for (;;) yield whole;
    }
    const { read } = prepare((from) => ({
      ...arrive(from, { bytes: 0, isCut: false }),
      body: Readable.from(endless()),
    }));
    await expect(read()).rejects.toMatchObject({ fault: 'changed', code: 'TooLong' });
  });

  it('gives up after five calls without progress', async () => {
    const { asked, read } = prepare((from) => arrive(from, { bytes: from === 0 ? 3 : 0, isCut: true }));
    await expect(read()).rejects.toMatchObject({ fault: 'unreachable', code: 'CutOff' });
    expect(asked).toEqual([undefined, 3, 3, 3, 3]);
  });

  it('retries when the server is unreachable, but not when it refuses', async () => {
    const lost = prepare((from, calls) => {
      if (calls === 2) throw new S3Error('unreachable', 'ECONNREFUSED', 'read x', 'gone');
      return arrive(from, { bytes: 5, isCut: true });
    });
    expect(await lost.read()).toEqual(whole);
    const denied = prepare((from, calls) => {
      if (calls === 2) throw new S3Error('denied', 'ExpiredToken', 'read x', 'denied');
      return arrive(from, { bytes: 5, isCut: true });
    });
    await expect(denied.read()).rejects.toMatchObject({ fault: 'denied' });
    expect(denied.asked).toHaveLength(2);
  });

  it.each([
    ['is a different one', { etag: '"other"' }, 'changed'],
    ['has a different size', { size: 11 }, 'changed'],
    ['starts elsewhere', { from: 0 }, 'failed'],
  ] as const)('drops a remainder that %s, and says so', async (_, difference, fault) => {
    const bodies: Readable[] = [];
    const { read } = prepare((from) => {
      const arriving = { ...arrive(from, { bytes: 5, isCut: true }), ...(from > 0 && difference) };
      bodies.push(arriving.body);
      return arriving;
    });
    await expect(read()).rejects.toMatchObject({ fault });
    expect(bodies.map(({ destroyed }) => destroyed)).toEqual([true, true]);
  });

  it('aborts at once while waiting to retry', async () => {
    const stopping = new AbortController();
    onTestFinished(() => stopping.abort());
    const reason = new Error('stopped by hand');
    const { read } = prepare((from) => {
      setImmediate(() => stopping.abort(reason));
      return arrive(from, { bytes: 0, isCut: true });
    });
    await expect(read(stopping.signal)).rejects.toBe(reason);
  });
});

function prepare(answer: (from: number, calls: number) => ArrivingObject) {
  const asked: (number | undefined)[] = [];
  return {
    asked,
    async read(signal?: AbortSignal): Promise<Buffer> {
      const blocks: Uint8Array[] = [];
      const get = async (rest?: { readonly from: number }) => {
        asked.push(rest?.from);
        return answer(rest?.from ?? 0, asked.length);
      };
      for await (const { bytes } of readObject('read x', get, signal)) blocks.push(bytes);
      return Buffer.concat(blocks);
    },
  };
}

/** This many bytes of the rest; then the connection is cut, or the body ends as if complete. */
function arrive(
  from: number,
  { bytes, isCut }: { readonly bytes: number; readonly isCut: boolean },
): ArrivingObject {
  async function* body() {
    if (bytes > 0) yield whole.subarray(from, from + bytes);
    if (isCut && from + bytes < whole.length) throw new Error('read ECONNRESET');
  }
  return { body: Readable.from(body()), size: whole.length, etag: '"one"', from };
}
