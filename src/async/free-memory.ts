import { MessageChannel, type MessagePort } from 'node:worker_threads';

/** Smaller buffers may share their memory with others. */
const minBytes = 16 * 1024;
let drain: MessagePort | undefined;

/**
 * Frees memory outside V8's heap at once. Left to the garbage collector, it triggers a full collection every few megabytes.
 * The bytes must span their whole buffer, and nothing else may use them: they are empty afterwards.
 */
export function freeMemory(bytes: Uint8Array): void {
  if (bytes.length < minBytes || bytes.length !== bytes.buffer.byteLength) return;
  drain ??= createDrain();
  drain.postMessage(null, [bytes.buffer as ArrayBuffer]);
}

/** A closed port takes what is transferred to it and drops it. (Since version 22, `ArrayBuffer.transfer` could do it.) */
function createDrain(): MessagePort {
  const { port1 } = new MessageChannel();
  port1.close();
  return port1;
}
