/**
 * What comes in pieces of any size, in blocks of one size; the last may be smaller.
 *
 * @param onBlock told how many bytes the next block has
 */
export async function* toEvenBlocks(
  pieces: AsyncIterable<Uint8Array>,
  blockBytes: number,
  onBlock: (bytes: number) => void,
): AsyncGenerator<Buffer, void, undefined> {
  let waiting: Buffer[] = [];
  let length = 0;
  for await (const piece of pieces) {
    let rest = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    while (length + rest.length >= blockBytes) {
      const taken = rest.subarray(0, blockBytes - length);
      onBlock(blockBytes);
      yield waiting.length === 0 ? taken : Buffer.concat([...waiting, taken]);
      rest = rest.subarray(taken.length);
      waiting = [];
      length = 0;
    }
    if (rest.length > 0) waiting.push(rest);
    length += rest.length;
  }
  if (length === 0) return;
  onBlock(length);
  yield Buffer.concat(waiting);
}
