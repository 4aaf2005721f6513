import { Writable } from 'node:stream';

/** A stream that keeps what is written to it. As a terminal it has 80 columns. */
export function captureStream({ isTTY = false } = {}) {
  let text = '';
  const sink = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk);
      done();
    },
  });
  const stream = Object.assign(sink, { isTTY, columns: 80 }) as unknown as NodeJS.WriteStream;
  return {
    stream,
    text: () => text,
    lines: () => text.split('\n').slice(0, -1),
  };
}
