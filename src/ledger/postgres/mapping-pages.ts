import type { CopiedMapping, MappingRow } from '../../mappings/mapping-copy.js';
import {
  changesOf,
  findDoubted,
  type HeldMappings,
  type MappingChanges,
  type PageTime,
} from '../mapping-changes.js';
import { toLeftHotels } from '../stored-mapping.js';
import { lookUp } from './mapping-look-up.js';
import type { Session } from './session.js';

/** Writes what the rows of a page change, and answers it. Done inside a transaction that writes alone. */
export async function storeRows(
  session: Session,
  rows: readonly MappingRow[],
  time: PageTime,
): Promise<MappingChanges> {
  const changes = changesOf(await readHeld(session, rows), rows, time);
  const { inserted, updated, moves, newHotels } = changes;
  if (inserted.length > 0) {
    await session.copy(
      `hotel_review.mappings
         (number, provider_name, provider_hotel_id, service_id, location_code, channel_ids, first_seen_at, moved_at)`,
      inserted.map((mapping) => [
        { bigint: mapping.number },
        { text: mapping.providerName },
        { text: mapping.providerHotelId },
        { bigint: mapping.serviceId ?? null },
        { text: mapping.locationCode ?? null },
        { text: JSON.stringify(mapping.channelIds) },
        { bigint: mapping.firstSeenAt },
        { bigint: mapping.movedAt ?? null },
      ]),
    );
  }
  if (updated.length > 0) await updateMappings(session, updated);
  if (moves.length > 0) {
    await session.copy(
      'hotel_review.mapping_moves (mapping, from_service_id, to_service_id, seen_at)',
      moves.map(({ number, from, to, seenAt }) => [
        { bigint: number },
        { bigint: from ?? null },
        { bigint: to ?? null },
        { bigint: seenAt },
      ]),
    );
  }
  if (newHotels.length > 0) {
    await session.copy(
      'hotel_review.master_hotels (number, service_id, provider_name, provider_hotel_id, seen_at)',
      newHotels.map(({ number, serviceId, providerName, providerHotelId, seenAt }) => [
        { bigint: number },
        { bigint: serviceId },
        { text: providerName },
        { text: providerHotelId },
        { bigint: seenAt },
      ]),
    );
  }
  return changes;
}

function updateMappings(session: Session, updated: readonly CopiedMapping[]): Promise<number> {
  return session.run(
    `UPDATE hotel_review.mappings SET service_id = changed.service_id, location_code = changed.location_code,
       channel_ids = changed.channel_ids, moved_at = changed.moved_at
     FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::bigint[])
       AS changed (number, service_id, location_code, channel_ids, moved_at)
     WHERE mappings.number = changed.number`,
    updated.map(({ number }) => number),
    updated.map(({ serviceId }) => serviceId ?? null),
    updated.map(({ locationCode }) => locationCode ?? null),
    updated.map(({ channelIds }) => JSON.stringify(channelIds)),
    updated.map(({ movedAt }) => movedAt ?? null),
  );
}

async function readHeld(session: Session, rows: readonly MappingRow[]): Promise<HeldMappings> {
  const last = await session.row(
    `SELECT (SELECT coalesce(max(number), 0) FROM hotel_review.mappings) AS mapping,
       (SELECT coalesce(max(number), 0) FROM hotel_review.master_hotels) AS hotel`,
  );
  const seen = await session.rows(
    'SELECT service_id FROM hotel_review.master_hotels WHERE service_id = ANY ($1::bigint[])',
    rows.map(({ serviceId }) => serviceId),
  );
  const mappings = (await lookUp(session, rows)).filter((mapping) => mapping !== undefined);
  const doubted = findDoubted(mappings, rows);
  const left =
    doubted.length === 0
      ? []
      : await session.rows(
          `SELECT mapping, from_service_id FROM hotel_review.mapping_moves
           WHERE mapping = ANY ($1::bigint[]) AND from_service_id IS NOT NULL`,
          doubted,
        );
  return {
    mappings,
    lastNumber: Number(last?.mapping),
    seenHotels: new Set(seen.map(({ service_id }) => Number(service_id))),
    lastHotelNumber: Number(last?.hotel),
    leftHotels: toLeftHotels(left),
  };
}
