import type { Sample } from '../common/setup.js';

/** The members of an object and of its nested objects, by the names that `source.columns` uses for them. */
export type ListedMembers = ReadonlyMap<string, unknown>;

/** Undefined for anything but an object. */
export function listMembers(value: unknown): ListedMembers | undefined {
  if (!isObject(value)) return undefined;
  return new Map(
    Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
      if (!isObject(member)) return [[name, member]];
      // A dot inside a name would be taken for a path.
      if (name.includes('.')) return [];
      return Object.entries(member).flatMap(([inner, nested]): [string, unknown][] =>
        isObject(nested) || inner.includes('.') ? [] : [[`${name}.${inner}`, nested]],
      );
    }),
  );
}

/** Skips values that are not objects. */
export function toMemberSample(listed: readonly (ListedMembers | undefined)[]): Sample {
  const records = listed.filter((members) => members !== undefined);
  return {
    columns: [...new Set(records.flatMap((members) => [...members.keys()]))],
    records: records.map(
      (members) => new Map([...members].flatMap(([name, value]) => keepText(name, value))),
    ),
    delimiter: undefined,
  };
}

function keepText(name: string, value: unknown): [string, string][] {
  return ['string', 'number', 'bigint', 'boolean'].includes(typeof value) ? [[name, String(value)]] : [];
}

/** A Date has no members that a column could name. */
function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}
