import type { IncomingMessage } from 'node:http';

export type BodyReading =
  | { readonly kind: 'whole'; readonly body: Buffer }
  /** What comes beyond the limit is let through and dropped, so that the client gets round to reading an answer. */
  | { readonly kind: 'too-large' }
  /** The client left before the body was whole. */
  | { readonly kind: 'cut-off' };

/** Reads a request's body, keeping at most so many bytes. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<BodyReading> {
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
      resolve({ kind: 'too-large' });
    });
    request.once('end', () => resolve({ kind: 'whole', body: Buffer.concat(parts) }));
    request.once('close', () => resolve({ kind: 'cut-off' }));
  });
}

/** Lets a request's body through and drops it; false when the client left before it was whole. */
export function dropBody(request: IncomingMessage): Promise<boolean> {
  return new Promise((resolve) => {
    request.resume();
    request.once('end', () => resolve(true));
    request.once('close', () => resolve(false));
  });
}
