import fc from 'fast-check';
import { expect, it } from 'vitest';
import { renderLargeObject } from '../../jobs/reports.js';

const anyRecord = fc.dictionary(fc.string(), fc.jsonValue());

it('the JSON of an object that is read in chunks is that of the same object in memory, also indented', async () => {
  const anyChunks = fc.array(fc.array(anyRecord, { maxLength: 3 }), { maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), anyChunks, fc.constantFrom(0, 2), async (value, chunks, indent) => {
      async function* read() {
        yield* chunks;
      }
      const pieces: string[] = [];
      for await (const piece of renderLargeObject(
        { 'a "name"': value, records: read, none: undefined },
        indent,
      ))
        pieces.push(piece);
      const whole = { 'a "name"': value, records: chunks.flat(), none: undefined };
      expect(pieces.join('')).toBe(JSON.stringify(whole, null, indent));
    }),
  );
});
