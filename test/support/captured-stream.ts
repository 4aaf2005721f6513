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
    /** The lines that are on the screen of a terminal. */
    screen: () => showScreen(text),
  };
}

/** Knows the controls that Node's readline writes: to a column, up, and clear what is below. */
function showScreen(text: string): readonly string[] {
  let above: string[] = [];
  let line = '';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminals are controlled by them
  for (const [part, count, control] of text.matchAll(/\x1b\[(\d*)([A-Z])|\n|[^\x1b\n]+/g)) {
    if (control === 'A') above = above.slice(0, above.length - Number(count));
    else if (control !== undefined) line = '';
    else if (part === '\n') {
      above.push(line);
      line = '';
    } else line += part;
  }
  return line === '' ? above : [...above, line];
}
