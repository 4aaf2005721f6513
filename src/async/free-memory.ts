import { MessageChannel, type MessagePort } from 'node:worker_threads';

/** Smaller ones may share their memory with others. */
const leastBytes = 16 * 1024;
let drain: MessagePort | undefined;

/**
 * Gives memory outside V8's heap back at once. Left to the garbage collector, it makes V8 collect everything for each few
 * megabytes. The bytes must fill their memory, and nobody else may use them: they are empty afterwards.
 */
export function freeMemory(bytes: Uint8Array): void {
  if (bytes.length < leastBytes || bytes.length !== bytes.buffer.byteLength) return;
  drain ??= createDrain();
  drain.postMessage(null, [bytes.buffer as ArrayBuffer]);
}

/** A closed port takes what is transferred to it and drops it. (Since version 22, `ArrayBuffer.transfer` could do it.) */
function createDrain(): MessagePort {
  const { port1 } = new MessageChannel();
  port1.close();
  return port1;
}
