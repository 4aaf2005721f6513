/** The markers around the figures that the simulation writes; everything else is written by hand. */
const begin = (name: string) => `<!-- simulation: ${name} -->`;
const end = (name: string) => `<!-- end of simulation: ${name} -->`;

/**
 * Replaces the text between the markers of that name.
 *
 * @throws RangeError unless the page has exactly one such place
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

/** A Markdown table; the first column is text, the others are right-aligned. */
export function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    line(head),
    `|${head.map((_, index) => (index === 0 ? '---' : '---:')).join('|')}|`,
    ...rows.map(line),
  ].join('\n');
}

/** Three significant digits, at most two of them decimals. */
export function formatFigure(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString('en', { maximumFractionDigits: digits, signDisplay: 'negative' });
}

export function formatShare(share: number): string {
  return `${share < 0 ? '−' : '+'}${Math.abs(100 * share).toFixed(0)}%`;
}
