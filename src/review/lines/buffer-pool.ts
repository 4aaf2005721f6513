/** Sizes are rounded up to this, so that returned memory fits again. */
const granularity = 64 * 1024;
/** More than are ever used at once. */
const mostSpare = 32;

/** Reuses memory. Left to the garbage collector, large blocks would pile up between collections. */
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
