import type { ProviderHotel } from '../booking/line-form.js';
import {
  type CopiedMapping,
  keyOfHotel,
  type MappingMove,
  type MappingRow,
  type NewMasterHotel,
  type StoredPage,
  type UnnamedDeletion,
} from './mappings.js';
import { toStorable, withoutUndefined } from './query.js';

/** What the copy already holds about a page's provider hotels and master hotels. */
export interface HeldMappings {
  readonly mappings: readonly CopiedMapping[];
  /** The highest number of any mapping; 0 if there is none. */
  readonly lastNumber: number;
  /** Those of the page's master hotels that were seen before. */
  readonly seenHotels: ReadonlySet<number>;
  /** The highest number of any master hotel; 0 if there is none. */
  readonly lastHotelNumber: number;
  /** The master hotels that each mapping named by `findDoubted` is known to have left, by the mapping's number. */
  readonly leftHotels: ReadonlyMap<number, ReadonlySet<number>>;
}

type ReportedRow = MappingRow | UnnamedDeletion;

/** When a page is stored. */
export interface PageTime {
  readonly at: number;
  /** When its cycle started. */
  readonly cycleBegunAt: number;
}

/** A provider hotel in the form in which it is stored. */
export function toStorableHotel({ providerName, providerHotelId }: ProviderHotel): ProviderHotel {
  return { providerName: toStorable(providerName), providerHotelId: toStorable(providerHotelId) };
}

/** The page with its texts in stored form, so that they can be compared with stored ones. */
export function toStorablePage(page: StoredPage): StoredPage {
  return withoutUndefined({
    ...page,
    after: toStorableWhere(page.after),
    resumeKey: toStorableWhere(page.resumeKey),
    rows: page.rows.map((row) =>
      withoutUndefined({
        ...row,
        ...toStorableHotel(row),
        locationCode: toStorableWhere(row.locationCode),
        channelIds: row.channelIds.map(toStorable),
      }),
    ),
    skipped: page.skipped?.map(({ reason, record }) => ({
      reason: toStorable(reason),
      record: toStorable(record),
    })),
  });
}

function toStorableWhere(text: string | undefined): string | undefined {
  return text === undefined ? undefined : toStorable(text);
}

/** The numbers of the mappings that the page deletes under a different master hotel than the copy has. */
export function findDoubted(
  mappings: readonly CopiedMapping[],
  rows: readonly ReportedRow[],
): readonly number[] {
  const current = new Map(mappings.map((mapping) => [keyOfHotel(mapping), mapping]));
  return rows.flatMap((row) => {
    const mapping = row.isDeleted ? current.get(keyOfHotel(row)) : undefined;
    return mapping && row.serviceId !== undefined && mapping.serviceId !== row.serviceId
      ? [mapping.number]
      : [];
  });
}

/**
 * Works out what a page changes, row by row: the same provider hotel may occur in it twice.
 *
 * A deletion that names a different master hotel than the copy has means one of two things. Either the mapping moved, and
 * its former place is reported as deleted: then nothing is deleted. Or it moved and was deleted since the last cycle, and
 * this is the only report of both: then it is deleted. The first applies if the copy knows that the mapping left that hotel,
 * or if this cycle has reported the mapping as current. Where the deletion names no master hotel, the latter alone decides.
 *
 * @param rows as `toStorablePage` makes them
 */
export function changesOf(held: HeldMappings, rows: readonly ReportedRow[], { at, cycleBegunAt }: PageTime) {
  const standing = new Set(rows.filter(({ isDeleted }) => !isDeleted).map(keyOfHotel));
  const current = new Map(held.mappings.map((mapping) => [keyOfHotel(mapping), mapping]));
  const changed = new Map<number, CopiedMapping>();
  const moves: (MappingMove & { readonly number: number })[] = [];
  const newHotels = new Map<number, NewMasterHotel>();
  const counts = { added: 0, moved: 0, updated: 0, deleted: 0, unchanged: 0 };
  let lastNumber = held.lastNumber;

  function keep(mapping: CopiedMapping): void {
    current.set(keyOfHotel(mapping), mapping);
    changed.set(mapping.number, mapping);
  }

  function change(row: ReportedRow): keyof typeof counts {
    const mapping = current.get(keyOfHotel(row));
    if (row.isDeleted) {
      if (mapping?.serviceId === undefined || isOfHotelLeft(row, mapping)) return 'unchanged';
      const { serviceId: from, ...rest } = mapping;
      keep({ ...rest, movedAt: at });
      moves.push({ number: mapping.number, from, seenAt: at });
      return 'deleted';
    }
    meetHotel(row);
    if (!mapping) {
      lastNumber += 1;
      keep(toMapping(row, { number: lastNumber, firstSeenAt: at }));
      return 'added';
    }
    if (mapping.serviceId !== row.serviceId) {
      keep(toMapping(row, { ...mapping, movedAt: at }));
      moves.push(
        withoutUndefined({ number: mapping.number, from: mapping.serviceId, to: row.serviceId, seenAt: at }),
      );
      return 'moved';
    }
    if (isSame(mapping, row)) return 'unchanged';
    keep(toMapping(row, mapping));
    return 'updated';
  }

  function isOfHotelLeft(
    row: ReportedRow,
    { number, serviceId, firstSeenAt, movedAt }: CopiedMapping,
  ): boolean {
    if (row.serviceId === serviceId) return false;
    const { serviceId: left } = row;
    const isKnown =
      left !== undefined &&
      (held.leftHotels.get(number)?.has(left) ||
        moves.some((move) => move.number === number && move.from === left));
    if (isKnown) return true;
    if (!standing.has(keyOfHotel(row)) && Math.max(firstSeenAt, movedAt ?? 0) < cycleBegunAt) return false;
    if (left === undefined) return true;
    // Kept, so that it is recognised when it reappears.
    moves.push(withoutUndefined({ number, from: left, to: serviceId, seenAt: at }));
    return true;
  }

  function meetHotel({ serviceId, providerName, providerHotelId }: MappingRow): void {
    if (held.seenHotels.has(serviceId) || newHotels.has(serviceId)) return;
    const number = held.lastHotelNumber + newHotels.size + 1;
    newHotels.set(serviceId, { number, serviceId, providerName, providerHotelId, seenAt: at });
  }

  for (const row of rows) counts[change(row)] += 1;
  const all = [...changed.values()];
  // Mappings and hotels as they are after the page, moves in the order in which they happened.
  return {
    inserted: all.filter(({ number }) => number > held.lastNumber),
    updated: all.filter(({ number }) => number <= held.lastNumber),
    moves,
    newHotels: [...newHotels.values()],
    counts: { read: rows.length, ...counts, newHotels: newHotels.size },
  };
}

function toMapping(
  { providerName, providerHotelId, serviceId, locationCode, channelIds }: MappingRow,
  { number, firstSeenAt, movedAt }: Pick<CopiedMapping, 'number' | 'firstSeenAt' | 'movedAt'>,
): CopiedMapping {
  return withoutUndefined({
    number,
    providerName,
    providerHotelId,
    serviceId,
    locationCode,
    channelIds,
    firstSeenAt,
    movedAt,
  });
}

function isSame(mapping: CopiedMapping, { locationCode, channelIds }: MappingRow): boolean {
  return (
    mapping.locationCode === locationCode &&
    mapping.channelIds.length === channelIds.length &&
    mapping.channelIds.every((channel, index) => channel === channelIds[index])
  );
}
