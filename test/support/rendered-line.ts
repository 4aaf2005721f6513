import type { LineWriter } from '../../src/review/delivery.js';
import { createLineBuffer } from '../../src/review/lines/line-buffer.js';

/** What is rendered as one line, as text; the buffer is too small for it and has to grow. */
export function renderedLine(render: (line: LineWriter) => void): string {
  const line = createLineBuffer(8);
  render(line);
  return line.handOver().toString();
}
