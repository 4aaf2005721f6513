import type { CollectedBatch, Suspect, SuspectReason } from '../review/collected.js';
import type { SuspectCounts } from '../review/run.js';
import { readColumns, type StoredRow, withoutUndefined } from './stored-values.js';

/** Packs the places of a batch's affected bookings as 16-bit little-endian numbers. */
export function packPlaces(places: readonly number[]): Buffer {
  const packed = Buffer.alloc(2 * places.length);
  for (const [index, place] of places.entries()) packed.writeUInt16LE(place, 2 * index);
  return packed;
}

export function unpackPlaces(packed: Buffer): number[] {
  return Array.from({ length: packed.length / 2 }, (_, index) => packed.readUInt16LE(2 * index));
}

/** Reads a row of the table of suspects. */
export function toSuspect(row: StoredRow): Suspect {
  const { integer } = readColumns(row);
  return withoutUndefined({
    place: Number(row.place),
    reason: String(row.reason) as SuspectReason,
    serviceId: integer('service_id'),
    movedAt: integer('moved_at'),
  });
}

export function countSuspects(batches: readonly CollectedBatch[]): SuspectCounts {
  let suspects = 0;
  let filledIn = 0;
  for (const batch of batches) {
    for (const { reason } of batch.suspects ?? []) {
      switch (reason) {
        case 'other-master':
        case 'moved':
          suspects += 1;
          break;
        case 'filled-in':
          filledIn += 1;
          break;
      }
    }
  }
  return { suspects, filledIn };
}
