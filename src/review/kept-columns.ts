import type { KeptValues } from '../booking/kept-values.js';

/**
 * The kept columns (`source.keep`) of the lines of a chunk or of a stored batch. Plain data, to be sent between
 * threads.
 */
export interface KeptColumns {
  readonly labels: readonly string[];
  /** By the line's place: its values in the order of the labels, null for a missing one; null if none is kept. */
  readonly rows: readonly KeptRow[];
}

export type KeptRow = readonly (string | null)[] | null;

/** The values of the booking at that place; undefined if it has none. */
export function keptAt(columns: KeptColumns | undefined, place: number): KeptValues | undefined {
  const row = columns?.rows[place];
  if (!columns || !row) return undefined;
  const values = columns.labels.flatMap((label, index) => {
    const value = row[index];
    return typeof value === 'string' ? [[label, value] as const] : [];
  });
  return values.length > 0 ? Object.fromEntries(values) : undefined;
}

/** The same columns without the values of the bookings at these places; undefined if those have none. */
export function eraseKeptAt(
  columns: KeptColumns | undefined,
  places: readonly number[],
): KeptColumns | undefined {
  if (!columns || places.every((place) => !columns.rows[place])) return undefined;
  return { ...columns, rows: columns.rows.map((row, place) => (places.includes(place) ? null : row)) };
}
