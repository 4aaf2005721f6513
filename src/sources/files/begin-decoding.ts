import type { DecodedBlock, FileDecoder } from './text-file.js';

const nothing: Buffer = Buffer.alloc(0);
export const nothingDecoded: DecodedBlock = { records: [], notices: [] };

/** How to read a file, and what of its beginning is still to be read that way. */
interface Beginning {
  readonly decoder: FileDecoder;
  readonly rest: Buffer;
}

/**
 * Holds a file's beginning until it shows how to read the file.
 *
 * @param begin undefined if more bytes are needed; at the end of the file there are none
 */
export function beginDecoding(
  begin: (bytes: Buffer, isWhole: boolean) => Beginning | undefined,
): FileDecoder {
  let held = nothing;
  let decoder: FileDecoder | undefined;

  function decodeHeld(isWhole: boolean): DecodedBlock {
    const beginning = begin(held, isWhole);
    if (beginning === undefined) return nothingDecoded;
    decoder = beginning.decoder;
    held = nothing;
    return decoder.decode(beginning.rest);
  }

  return {
    decode(block) {
      if (decoder !== undefined) return decoder.decode(block);
      held = held.length === 0 ? block : Buffer.concat([held, block]);
      return decodeHeld(false);
    },
    end() {
      const first = decoder === undefined ? decodeHeld(true) : nothingDecoded;
      return joinDecoded(first, decoder?.end() ?? nothingDecoded);
    },
  };
}

export function joinDecoded(first: DecodedBlock, last: DecodedBlock): DecodedBlock {
  return { records: [...first.records, ...last.records], notices: [...first.notices, ...last.notices] };
}
