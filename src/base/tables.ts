import stringWidth from 'fast-string-width';
import { showInCell, showInLine } from './foreign-text.js';

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

const width = 80;
const labelWidth = 8;
const indent = ' '.repeat(4 + labelWidth);

/** Parts below a row of a table, separated by commas, on as few lines as fit; a part that is longer than a line is cut. */
export function fitParts(label: string, parts: readonly string[]): string[] {
  const lines: string[] = [];
  let line = `    ${label.padEnd(labelWidth)}`;
  for (const [index, part] of parts.entries()) {
    const separator = index === parts.length - 1 ? '' : ',';
    const text = cutToWidth(showInLine(part), width - indent.length - 1) + separator;
    const isFirst = index === 0;
    if (isFirst) line += text;
    else if (stringWidth(line) + 1 + stringWidth(text) <= width) line += ` ${text}`;
    else {
      lines.push(line);
      line = indent + text;
    }
  }
  return [...lines, line];
}

function cutToWidth(text: string, most: number): string {
  if (stringWidth(text) <= most) return text;
  let cut = '';
  for (const character of text) {
    if (stringWidth(cut + character) >= most) break;
    cut += character;
  }
  return `${cut}…`;
}
