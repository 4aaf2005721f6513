import { lineEnd } from './csv.js';

const lineFeed = lineEnd.charCodeAt(0);

/** Cuts blocks of bytes after line ends. It copies only the lines that a block interrupts. */
export interface LineCutter {
  /** The whole lines that end in this block, in one or two buffers, valid as long as the block. */
  cut(block: Uint8Array): Generator<Buffer, void, undefined>;
  /** The bytes after the last line end so far. */
  readonly pendingBytes: number;
}

export function createLineCutter(): LineCutter {
  let pending: Buffer = Buffer.alloc(0);
  return {
    get pendingBytes() {
      return pending.length;
    },
    *cut({ buffer, byteOffset, byteLength }) {
      const block = Buffer.from(buffer, byteOffset, byteLength);
      const end = block.lastIndexOf(lineFeed) + 1;
      const begun = pending;
      if (end === 0) {
        pending = Buffer.concat([begun, block]);
        return;
      }
      pending = Buffer.from(block.subarray(end));
      const start = begun.length === 0 ? 0 : block.indexOf(lineFeed) + 1;
      if (start > 0) yield Buffer.concat([begun, block.subarray(0, start)]);
      if (start < end) yield block.subarray(start, end);
    },
  };
}
