import { formatDuration as formatUnits, intervalToDuration } from 'date-fns';

const counts = new Intl.NumberFormat('en');

/** 1234567 as 1,234,567 */
export function formatCount(count: number): string {
  return counts.format(count);
}

/** Under a minute with tenths of a second, above it in whole units. */
export function formatDuration(milliseconds: number): string {
  // What would be rounded up to a whole minute is none yet.
  if (milliseconds < 59_950) return `${(Math.max(0, milliseconds) / 1000).toFixed(1)} s`;
  return formatUnits(intervalToDuration({ start: 0, end: milliseconds }));
}

export function formatRate(done: number, milliseconds: number): string {
  if (milliseconds < 500) return '';
  return `${formatCount(Math.round((done * 1000) / milliseconds))}/s`;
}

/** An instant for people: UTC, to the second. */
export function formatInstant(instant: number): string {
  return `${new Date(instant).toISOString().slice(0, 19).replace('T', ' ')}Z`;
}

/** Indented lines that fit into a terminal of 80 columns; a word is never broken. */
export function wrapText(text: string): string[] {
  return (text.match(/\S.{0,77}(?=\s|$)|\S+/g) ?? []).map((line) => `  ${line.trimEnd()}`);
}
