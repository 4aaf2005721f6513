import Table from 'cli-table3';

type Cell = string | number | undefined;

/** Columns in line and nothing else: it reads well in a mail and in a terminal of 80 columns. */
const plain = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
};

export function renderTable(rows: readonly (readonly Cell[])[], head?: readonly string[]): string {
  const table = new Table({
    chars: plain,
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
    colAligns: alignments(rows),
    ...(head && { head: [...head] }),
  });
  table.push(...rows.map((row) => row.map((cell) => cell ?? '')));
  return table
    .toString()
    .split('\n')
    .map((line) => `  ${line}`.trimEnd())
    .join('\n');
}

/** A column of numbers is flush right. */
function alignments(rows: readonly (readonly Cell[])[]): ('left' | 'right')[] {
  const width = Math.max(0, ...rows.map((row) => row.length));
  return Array.from({ length: width }, (_, column) =>
    rows.length > 0 && rows.every((row) => /^[\d,]*$/.test(String(row[column] ?? ''))) ? 'right' : 'left',
  );
}
