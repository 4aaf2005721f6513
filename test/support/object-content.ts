import type { ObjectContent } from '../../src/s3/bucket.js';

/** Goes in one piece. */
export const text = (content: string): ObjectContent => ({
  bytes: Buffer.byteLength(content),
  metadata: {},
  async *open() {
    yield Buffer.from(content);
  },
});

/** Goes in three parts. What is done at the end is done while the parts are on their way. */
export function large(letter: string, atEnd: () => Promise<void> = async () => {}): ObjectContent {
  const block = Buffer.alloc(1_000_000, letter);
  return {
    bytes: 20 * block.length,
    metadata: {},
    async *open() {
      for (let count = 0; count < 20; count += 1) yield block;
      await atEnd();
    },
  };
}
