import type { Results } from './results.js';
import { showFigure } from './table.js';

/** How the medians moved since other results were written, one line a comparison. */
export function listMovements(before: Results, now: Results): readonly string[] {
  return now.rows.map((row) => {
    const old = before.rows.find(({ name }) => name === row.name);
    if (!old || old.unit !== row.unit) return `${row.name}: nothing to compare with`;
    const sides = [move('ours', old.ours.median, row.ours.median)];
    if (old.other && row.other) sides.push(move('the other', old.other.median, row.other.median));
    const ratios =
      old.ratio !== undefined && row.ratio !== undefined
        ? `, ratio ${old.ratio.toFixed(3)} → ${row.ratio.toFixed(3)}`
        : '';
    return `${row.name} (${old.commit} → ${row.commit}): ${sides.join(', ')}${ratios}`;

    function move(side: string, from: number, to: number): string {
      const percent = (to / from - 1) * 100;
      const sign = percent < 0 ? '−' : '+';
      return `${side} ${showFigure(from, row.unit)} → ${showFigure(to, row.unit)} (${sign}${Math.abs(percent).toFixed(1)} %)`;
    }
  });
}
