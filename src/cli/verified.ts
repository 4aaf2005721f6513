import type { VerifiedItem } from '../review/file/verify.js';

/** What `verify` found, run by run. */
export function renderVerified(
  day: string,
  runs: readonly { readonly runId: string; readonly items: readonly VerifiedItem[] }[],
): string {
  if (runs.length === 0) return `No run of ${day} has anything in the archive; only runs by file have.\n`;
  const lines = runs.flatMap(({ runId, items }) => [
    `run ${runId}:`,
    ...items.map(({ item, fault }) =>
      fault === undefined ? `  ok      ${item}` : `  DIFFERS ${item}: ${fault}`,
    ),
  ]);
  return `${lines.join('\n')}\n`;
}
