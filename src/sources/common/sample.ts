import type { BusinessDay } from '../../booking/business-day.js';
import type { BookingSource } from '../../booking/source.js';

/** The first bookings of a day as the source returns them. They may name guests and are never shown. */
export interface Sample {
  /** The names as `source.columns` would name them: a member of a nested object is `guest.name`. */
  readonly columns: readonly string[];
  /** By column; values that are no texts, numbers or booleans are left out. */
  readonly records: readonly ReadonlyMap<string, string>[];
  /** CSV only. */
  readonly delimiter?: string | undefined;
  /** CSV only: how many lines stand above the header. */
  readonly skipRows?: number | undefined;
  /** Files only. */
  readonly encoding?: string | undefined;
  /** What else fits, if the encoding is only a guess. */
  readonly otherEncodings?: readonly string[] | undefined;
  /** The file states its encoding, whatever is configured. */
  readonly isMarked?: boolean;
}

/** @throws SourceError as the source itself throws it; the signal's reason when it aborts */
export type SampleDay = (day: BusinessDay, signal: AbortSignal) => Promise<Sample>;

/** Enough records: a few may be broken, many dates don't tell day from month, and few bookings are cancelled. */
export const sampleRecords = 500;

/** The members of an object and of its nested objects, by the names that `source.columns` uses for them. */
export type ListedMembers = ReadonlyMap<string, unknown>;

/** Undefined for anything but an object. */
export function listMembers(value: unknown): ListedMembers | undefined {
  return isObject(value) ? new Map(walk(value, '')) : undefined;
}

/** A dot inside the name of a group would be taken for a path, and so it is inside a group. */
function walk(group: object, prefix: string): [string, unknown][] {
  return Object.entries(group).flatMap(([name, member]): [string, unknown][] => {
    if (isObject(member)) return name.includes('.') ? [] : walk(member, `${prefix}${name}.`);
    return prefix !== '' && name.includes('.') ? [] : [[`${prefix}${name}`, member]];
  });
}

/** Samples the first objects that a source reads. */
export function sampleObjects(source: BookingSource): SampleDay {
  return async (day, signal) => {
    for await (const { records } of source.read(day, { signal, atMost: sampleRecords })) {
      const first = records.slice(0, sampleRecords);
      return toMemberSample(first.map((one) => ('fields' in one ? listMembers(one.whole) : undefined)));
    }
    return toMemberSample([]);
  };
}

/** Skips values that are not objects. */
export function toMemberSample(listed: readonly (ListedMembers | undefined)[]): Sample {
  const records = listed.filter((members) => members !== undefined);
  return {
    columns: [...new Set(records.flatMap((members) => [...members.keys()]))],
    records: records.map(
      (members) => new Map([...members].flatMap(([name, value]) => keepText(name, value))),
    ),
  };
}

function keepText(name: string, value: unknown): [string, string][] {
  return ['string', 'number', 'bigint', 'boolean'].includes(typeof value) ? [[name, String(value)]] : [];
}

/** A Date has no members that a column could name. */
function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}
