import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createReports, renderLargeObject } from '../../jobs/terminal.js';
import { captureStream } from '../support/captured-stream.js';

const failure = { class: 'stopped', message: 'stopped at once', exitCode: 1 };
const error = { class: 'stopped', message: 'stopped at once' };

function printed(work: (reports: ReturnType<typeof createReports>) => void, isJson = true) {
  const output = captureStream();
  work(createReports(output.stream, isJson));
  return output.lines().map((line) => JSON.parse(line));
}

describe('the JSON of a command', () => {
  it('is its report, and no error after it', () => {
    expect(
      printed((reports) => {
        reports.write({ state: 'succeeded' });
        reports.fail(failure);
      }),
    ).toEqual([{ state: 'succeeded' }]);
  });

  it('of a range is a report per day, and an error if it fails between two', () => {
    expect(
      printed((reports) => {
        reports.write({ day: '2026-11-19' }, { more: true });
        reports.write({ day: '2026-11-20' }, { more: true });
        reports.fail(failure);
        reports.fail(failure);
      }),
    ).toEqual([{ day: '2026-11-19' }, { day: '2026-11-20' }, { error }]);
  });

  it('can come in pieces; if it is cut off, the error is on a line of its own', async () => {
    const signal = new AbortController().signal;
    const output = captureStream();
    const whole = createReports(output.stream, true);
    await whole.writeInPieces(piecesOf('{"a":', '[1,2]', '}'), signal);
    whole.fail(failure);
    expect(output.lines()).toEqual(['{"a":[1,2]}']);

    const cut = captureStream();
    const reports = createReports(cut.stream, true);
    const broken = reports.writeInPieces(piecesOf('{"a":', new Error('gone')), signal);
    await expect(broken).rejects.toThrow('gone');
    reports.fail(failure);
    expect(cut.lines()).toEqual(['{"a":', JSON.stringify({ error })]);
  });
});

async function* piecesOf(...pieces: readonly (string | Error)[]): AsyncGenerator<string> {
  for (const piece of pieces) {
    if (piece instanceof Error) throw piece;
    yield piece;
  }
}

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
