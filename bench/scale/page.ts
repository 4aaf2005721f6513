/** Between these comments stand the figures that the simulation writes; all else is written by hand. */
const begin = (name: string) => `<!-- simulation: ${name} -->`;
const end = (name: string) => `<!-- end of simulation: ${name} -->`;

/**
 * Puts a table, or any text, between the markers of its name.
 *
 * @throws RangeError when the page has not exactly one such place
 */
export function replaceFigures(page: string, name: string, figures: string): string {
  const [before, after, ...others] = page.split(begin(name));
  const from = after?.indexOf(end(name)) ?? -1;
  if (before === undefined || after === undefined || others.length > 0 || from < 0) {
    throw new RangeError(
      `expected one place for ${name} in the page, between ${begin(name)} and ${end(name)}`,
    );
  }
  return `${before}${begin(name)}\n${figures.trim()}\n${after.slice(from)}`;
}

/** Rows of Markdown; the first column is text, the others stand at the right. */
export function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    line(head),
    `|${head.map((_, index) => (index === 0 ? '---' : '---:')).join('|')}|`,
    ...rows.map(line),
  ].join('\n');
}

/** Three digits that count, and no more than two after the point. */
export function formatFigure(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString('en', { maximumFractionDigits: digits });
}

export function formatShare(share: number): string {
  return `${share < 0 ? '−' : '+'}${Math.abs(100 * share).toFixed(0)} %`;
}
