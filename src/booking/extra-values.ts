import { cleanText } from './field-text.js';

/** Local columns of a booking (`source.keep`), by label. Never sent; removed together with the guest's name. */
export type ExtraValues = Readonly<Record<string, string>>;

/** In UTF-16 units: a column of long texts must not fill the ledger. */
const maxLength = 200;

/** Reads the value of an extra column; undefined if it is missing, or not a text, number or boolean. */
export function readExtraValue(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string': {
      const text = cleanText(value);
      // The cut may split a surrogate pair, or end in a space.
      return (
        (text.length > maxLength ? text.slice(0, maxLength).toWellFormed().trimEnd() : text) || undefined
      );
    }
    case 'number':
      return Number.isFinite(value) ? String(value) : undefined;
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      return undefined;
  }
}

/** The cells of a table, in the order of the labels. */
export function toExtraCells(labels: readonly string[], values: ExtraValues | undefined): string[] {
  return labels.map((label) => values?.[label] ?? '-');
}
