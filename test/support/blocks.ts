/** What an adapter hands over block by block. */
export async function* blocksOf(...blocks: readonly (string | Uint8Array)[]): AsyncGenerator<Buffer> {
  for (const block of blocks) yield Buffer.from(block as Uint8Array);
}

export async function readWhole(content: AsyncIterable<Uint8Array>): Promise<string> {
  const blocks: Uint8Array[] = [];
  for await (const block of content) blocks.push(Buffer.from(block));
  return Buffer.concat(blocks).toString();
}
