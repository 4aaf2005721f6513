import stringWidth from 'fast-string-width';
import { showInCell } from './foreign-text.js';

type Cell = string | number | undefined;

/** Aligned columns without borders: readable in an e-mail and in a terminal of 80 columns. */
export function renderTable(rows: readonly (readonly Cell[])[], head?: readonly string[]): string {
  const body = rows.map((row) => row.map((cell) => showInCell(String(cell ?? ''))));
  const lines = head ? [head, ...body] : body;
  const widths: number[] = [];
  for (const cells of lines)
    cells.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, stringWidth(cell));
    });
  // A column of numbers is flush right.
  const isNumeric = widths.map(
    (_, column) =>
      body.length > 0 &&
      body.every((cells) => /^[\d,]*$/.test(cells[column] ?? '') || isStandIn(cells[column])),
  );
  return lines
    .map((cells) => {
      const padded = widths.map((width, column) => {
        const cell = cells[column] ?? '';
        const padding = ' '.repeat(width - stringWidth(cell));
        return isNumeric[column] ? padding + cell : cell + padding;
      });
      return `  ${padded.join('  ')}`.trimEnd();
    })
    .join('\n');
}

/** Words in place of an unknown number. */
const standIns: readonly unknown[] = ['by e-mail', 'no result', 'not compared', '-', 'all', 'none sent'];

function isStandIn(cell: string | undefined): boolean {
  return standIns.includes(cell);
}
