import type { Results, Row } from './results.js';
import { head, listCells } from './table.js';

const begin = '<!-- figures: written by `npm run bench` -->';
const end = '<!-- end of figures -->';

/**
 * Puts the figures between the two markers; what people wrote around them stays.
 *
 * @throws Error when the page has not exactly one of each marker, in order.
 */
export function replaceFigures(page: string, figures: string): string {
  const [before, rest, ...more] = page.split(begin);
  const [, after, ...moreEnds] = rest?.split(end) ?? [];
  if (before === undefined || after === undefined || more.length + moreEnds.length > 0)
    throw new Error(
      `the page has no place for the figures: expected ${begin} and, below it, ${end}, each once`,
    );
  return `${before}${begin}\n\n${figures.trim()}\n\n${end}${after}`;
}

/** The table with where and how it was taken. */
export function renderFigures({ scale, machine, versions, rows, notTried }: Results): string {
  const { processor, cores, memoryGb, system, fileSystem } = machine;
  const listed = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return [
    `${cores} × ${processor}, ${memoryGb} GB, ${system}, temporary files on ${fileSystem}. ${listed.join(', ')}.`,
    ...(scale === 'quick' ? ['**Taken in small (`--quick`): good for a look, not for a claim.**'] : []),
    [
      renderLine(head),
      renderLine(head.map(() => '---')),
      ...rows.map((row) => renderLine(listCells(row))),
    ].join('\n'),
    rows.map(renderNotes).join('\n'),
    ...(notTried.length > 0
      ? [
          `Not tried here:\n\n${notTried.map(({ name, obstacle }) => `- \`${name}\`: ${obstacle}`).join('\n')}`,
        ]
      : []),
  ].join('\n\n');
}

function renderNotes({ name, work, ours, takenAt, commit, notes }: Row): string {
  const taken = `${ours.samples.length} rounds, ${takenAt.slice(0, 10)}, commit ${commit}`;
  return [`- \`${name}\` (${work}; ${taken})`, ...notes.map((note) => `  - ${note}`)].join('\n');
}

function renderLine(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
