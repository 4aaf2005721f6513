import { clearScreenDown, cursorTo, moveCursor } from 'node:readline';
import { print } from '../base/foreign-text.js';

const barWidth = 24;

/** The bar of what is done, and its share in percent. */
export function drawBar(done: number, total: number): string {
  const share = total > 0 ? Math.min(1, done / total) : 1;
  const full = Math.round(share * barWidth);
  return `${'█'.repeat(full)}${'░'.repeat(barWidth - full)} ${Math.floor(share * 100)}%`;
}

export type MovingLines = ReturnType<typeof createMovingLines>;

const leastMsBetween = 100;

/** Lines at the bottom of a terminal, which change; text is printed above them. */
export function createMovingLines(stream: NodeJS.WriteStream) {
  let lines: readonly string[] = [];
  let onScreen = 0;
  let drawnAt = 0;

  function clear(): void {
    if (onScreen === 0) return;
    cursorTo(stream, 0);
    moveCursor(stream, 0, 1 - onScreen);
    clearScreenDown(stream);
    onScreen = 0;
  }

  function redraw(): void {
    clear();
    // A line that wraps would take two on the screen. Some terminals don't know their width.
    const most = (stream.columns || 80) - 1;
    print(stream, lines.map((line) => [...line].slice(0, most).join('')).join('\n'));
    onScreen = lines.length;
    drawnAt = performance.now();
  }

  return {
    /** Replaces the lines. Within a moment of the last time, what is on the screen stays. */
    draw(changed: readonly string[]): void {
      lines = changed;
      if (lines.length !== onScreen || performance.now() - drawnAt >= leastMsBetween) redraw();
    },
    /** Prints a line of text. */
    say(text: string): void {
      clear();
      print(stream, `${text}\n`);
      if (lines.length > 0) redraw();
    },
    /** Leaves the lines where they are: further ones are drawn below. */
    leave(): void {
      if (lines.length === 0) return;
      redraw();
      print(stream, '\n');
      lines = [];
      onScreen = 0;
    },
    erase(): void {
      clear();
      lines = [];
    },
  };
}
