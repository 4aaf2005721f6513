import stringWidth from 'fast-string-width';
import { showInCell, showInLine } from './foreign-text.js';

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** An integer: 1234567 as 1,234,567. Without `Intl`, whose first use takes longer than most commands. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** "1 step", "2 steps" */
export function formatCountOf(count: number, thing: string): string {
  return `${formatCount(count)} ${thing}${count === 1 ? '' : 's'}`;
}

/** Below a minute with tenths of a second, above it in whole units: 2 h 5 min 12 s */
export function formatDuration(elapsed: number): string {
  // A clock may have been set back meanwhile.
  const tenths = Math.round(Math.max(0, elapsed) / 100);
  if (tenths < 600) return `${(tenths / 10).toFixed(1)} s`;
  let left = tenths * 100;
  const parts = units.map(([unit, length]) => {
    const count = Math.floor(left / length);
    left -= count * length;
    return count > 0 ? `${count} ${unit}` : '';
  });
  return parts.filter((part) => part !== '').join(' ');
}

export function formatRate(done: number, milliseconds: number): string {
  if (milliseconds < 500) return '';
  return `${formatCount(Math.round((done * 1000) / milliseconds))}/s`;
}

/** 1234567 as 1.2 MB */
export function formatBytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Below a hundred with a tenth. */
export function formatKilometres(km: number): string {
  return `${km < 100 ? km.toFixed(1) : formatCount(Math.round(km))} km`;
}

export function formatByteRate(bytes: number, milliseconds: number): string {
  if (milliseconds < 500) return '';
  return `${formatBytes((bytes * 1000) / milliseconds)}/s`;
}

/** An instant for people: UTC, to the second. */
export function formatInstant(instant: number): string {
  return `${new Date(instant).toISOString().slice(0, 19).replace('T', ' ')}Z`;
}

/** An instant for people in a time zone, to the minute: 2026-11-21 03:30 */
export function formatLocalInstant(instant: number, timezone: string): string {
  if (timezone === 'UTC') return formatInstant(instant).slice(0, '2026-11-21 03:30'.length);
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone: timezone,
    dateStyle: 'short',
    timeStyle: 'short',
  });
  return format.format(new Date(instant));
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** 2026-11-26 as 26 Nov 2026 */
export function formatDay(iso: string): string {
  const [year, month, day] = iso.split('-').map(Number);
  return `${day} ${months[(month ?? 1) - 1]} ${year}`;
}

/** An instant on a page: 26 Nov 2026, 21:30 */
export function formatDayAndTime(instant: number, timezone: string): string {
  const [day = '', time] = formatLocalInstant(instant, timezone).split(' ');
  return `${formatDay(day)}, ${time}`;
}

/** Cuts a text that is longer than there is room for, and shows that it was cut. */
export function shorten(text: string, most: number): string {
  // Half a character must not remain.
  return text.length <= most ? text : `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Indented lines that fit into 80 columns, without breaking words. */
export function wrapText(text: string, indent = 2): string[] {
  const line = new RegExp(`\\S.{0,${79 - indent}}(?=\\s|$)|\\S+`, 'g');
  return (text.match(line) ?? []).map((words) => `${' '.repeat(indent)}${words.trimEnd()}`);
}

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
