import type { IncomingMessage } from 'node:http';

export type BodyReading =
  | { readonly kind: 'whole'; readonly body: Buffer }
  /** The rest is left where it is: nothing more is read from that connection. */
  | { readonly kind: 'too-large' }
  /** The caller left before the body was whole. */
  | { readonly kind: 'cut-off' };

/** Reads a request's body as the bytes it came in, and stops where it is larger than it may be. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<BodyReading> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes)
    return Promise.resolve({ kind: 'too-large' });
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let length = 0;
    request.on('data', (part: Buffer) => {
      length += part.length;
      if (length <= maxBytes) {
        parts.push(part);
        return;
      }
      parts.length = 0;
      request.removeAllListeners('data').pause();
      resolve({ kind: 'too-large' });
    });
    request.once('end', () => resolve({ kind: 'whole', body: Buffer.concat(parts) }));
    // It is told in 'close', too, and would else be thrown.
    request.once('error', () => {});
    request.once('close', () => resolve({ kind: 'cut-off' }));
  });
}
