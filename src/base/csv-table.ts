import { type Options, stringify } from 'csv-stringify/sync';

/** Tells Excel that a CSV is UTF-8; other programs skip it. */
export const byteOrderMark = '\uFEFF';

const separators = ',;|\t\r\n"';
const formulaSigns = '=+-@\uff1d\uff0b\uff0d\uff20';

/**
 * Puts an apostrophe where a spreadsheet would read a formula: at the start of a cell and, as it may expect another
 * separator than ours, after whatever could end one.
 */
function disarmFormulas(text: string): string {
  let disarmed = text.startsWith('\t') || text.startsWith('\r') ? "'" : '';
  let isStart = true;
  for (const character of text) {
    if (isStart && formulaSigns.includes(character)) disarmed += "'";
    isStart = separators.includes(character) || (isStart && character.trim() === '');
    disarmed += character;
  }
  return disarmed;
}

/** Records of a CSV for people. All of them pass through here: other people's text must not become a formula. */
export function renderRecords(records: readonly object[], options: Options): string {
  return stringify([...records], { cast: { string: disarmFormulas }, ...options });
}

/** A whole CSV for people. */
export function renderCsv(columns: readonly string[], records: readonly object[]): Buffer {
  return Buffer.from(byteOrderMark + renderRecords(records, { header: true, columns: [...columns] }));
}
