/** Sizes are rounded up to this, so that memory that comes back fits again. */
const granularity = 64 * 1024;
/** More than are ever in use at the same time. */
const mostSpare = 32;

/** Memory that is used again: left to the garbage collector, blocks of it would pile up between its rounds. */
export interface BufferPool {
  take(bytes: number): Buffer<ArrayBuffer>;
  giveBack(memory: ArrayBuffer): void;
}

export function createBufferPool(): BufferPool {
  const spare: ArrayBuffer[] = [];
  return {
    take(bytes) {
      const found = spare.findIndex(({ byteLength }) => byteLength >= bytes);
      const [memory] = found === -1 ? [] : spare.splice(found, 1);
      return memory
        ? Buffer.from(memory)
        : Buffer.allocUnsafeSlow(Math.ceil(bytes / granularity) * granularity);
    },
    giveBack(memory) {
      if (memory.byteLength < granularity) return;
      spare.push(memory);
      if (spare.length > mostSpare) spare.shift();
    },
  };
}
