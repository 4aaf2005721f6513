import type { Attributes, FileEntry, SFTPWrapper } from 'ssh2';
import { status } from './status.js';

/** How a request ended. */
export type Answer =
  | { readonly kind: 'done' }
  | { readonly kind: 'no-more' }
  | { readonly kind: 'failed'; readonly status: number; readonly message: string }
  | { readonly kind: 'handle'; readonly handle: Buffer }
  | { readonly kind: 'data'; readonly data: Buffer }
  | { readonly kind: 'names'; readonly names: readonly FileEntry[] }
  /** Of REALPATH: a name and nothing about it. */
  | { readonly kind: 'path'; readonly path: string }
  | { readonly kind: 'attributes'; readonly attributes: Attributes };

export const done: Answer = { kind: 'done' };

/** Sends the answer to the request of that number; goes nowhere when the client has left. */
export function sendAnswer(channel: SFTPWrapper, request: number, answer: Answer): void {
  switch (answer.kind) {
    case 'done':
      return channel.status(request, status.OK);
    case 'no-more':
      return channel.status(request, status.EOF);
    case 'failed':
      return channel.status(request, answer.status, answer.message);
    case 'handle':
      return channel.handle(request, answer.handle);
    case 'data':
      return channel.data(request, answer.data);
    case 'names':
      return channel.name(request, [...answer.names]);
    case 'path':
      return channel.name(request, [
        { filename: answer.path, longname: answer.path, attrs: {} as Attributes },
      ]);
    case 'attributes':
      return channel.attrs(request, answer.attributes);
  }
}
