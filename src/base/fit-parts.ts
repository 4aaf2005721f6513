import stringWidth from 'fast-string-width';
import { showInLine } from './foreign-text.js';

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
