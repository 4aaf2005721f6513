import type { Results, Row } from './results.js';
import { head, listCells } from './table.js';

/** The page of all figures, with the machine and the method. Rows share numbered notes. */
export function renderFigures({ scale, machine, versions, rows, notTried }: Results): string {
  const { processor, cores, memoryGb, system, fileSystem } = machine;
  const listed = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const notes = [...new Set(rows.flatMap(listNotes))];
  const numbersOf = (row: Row) =>
    listNotes(row)
      .map((note) => notes.indexOf(note) + 1)
      .sort((one, other) => one - other);
  const columns = ['name', ...head, 'notes'];
  const parts = [
    '# Figures',
    'Written by `npm run bench`. [Performance](../../docs/decisions.md#performance) has those that matter, and says how they are measured.',
    `${cores} × ${processor}, ${memoryGb} GB, ${system}, temporary files on ${fileSystem}. ${listed.join(', ')}.`,
    ...(scale === 'quick'
      ? ['**Measured with small inputs (`--quick`): an indication, not evidence.**']
      : []),
    [
      renderLine(columns),
      renderLine(columns.map(() => '---')),
      ...rows.map((row) => renderLine([`\`${row.name}\``, ...listCells(row), numbersOf(row).join(', ')])),
    ].join('\n'),
    notes.map((note, index) => `${index + 1}. ${note}`).join('\n'),
    ...(notTried.length > 0
      ? [
          `Not tried here:\n\n${notTried.map(({ name, obstacle }) => `- \`${name}\`: ${obstacle}`).join('\n')}`,
        ]
      : []),
  ];
  return `${parts.join('\n\n')}\n`;
}

function listNotes({ ours, takenAt, commit, notes }: Row): readonly string[] {
  const { length: rounds } = ours.samples;
  return [
    `${rounds} ${rounds === 1 ? 'round' : 'rounds'}, ${takenAt.slice(0, 10)}, commit ${commit}.`,
    ...notes,
  ];
}

function renderLine(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
