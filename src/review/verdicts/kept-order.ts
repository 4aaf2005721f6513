import type { KeptValues } from '../../booking/kept-values.js';

/** Sorts a list by a kept column. */
export interface KeptOrder {
  readonly label: string;
  readonly isDescending: boolean;
}

/** How a list shows the columns of `source.keep`. */
export interface ShownKept {
  /** The configured names, in their order. */
  readonly labels: readonly string[];
  readonly order?: KeptOrder | undefined;
}

/** Occurs in no kept value: it is a control character. */
const separator = '\0';
/** A comma before three digits may separate thousands: such a column is compared as text. */
const number = /^-?\d+(?:\.\d+|,(?!\d{3}$)\d+)?$/;

/** The key of a booking for `orderByKey`: its value and, for those with the same one, its check-in. */
export function writeKeptKey({ label }: KeptOrder, kept: KeptValues | undefined, checkIn: string): string {
  return `${kept?.[label] ?? ''}${separator}${checkIn}`;
}

/** Sorts a list that is in memory. */
export function sortByKept<Item>(
  items: readonly Item[],
  order: KeptOrder,
  read: (item: Item) => { readonly kept: KeptValues | undefined; readonly checkIn: string },
): Item[] {
  const keyed = items.map((item) => {
    const { kept, checkIn } = read(item);
    return { item, key: writeKeptKey(order, kept, checkIn) };
  });
  const compareTwo = compareKeptKeys(
    order,
    keyed.map(({ key }) => key),
  );
  return keyed.sort((a, b) => compareTwo(a.key, b.key)).map(({ item }) => item);
}

/**
 * Compares such keys: as numbers if all values of the column are numbers. Bookings without a value come last in either
 * direction.
 */
export function compareKeptKeys(
  { isDescending }: KeptOrder,
  keys: Iterable<string>,
): (a: string, b: string) => number {
  const values = new Map<string, { readonly value: string; readonly checkIn: string }>();
  for (const key of keys) {
    const [value = '', checkIn = ''] = key.split(separator);
    values.set(key, { value, checkIn });
  }
  const areNumbers = [...values.values()].every(({ value }) => value === '' || number.test(value));
  const read = areNumbers ? (value: string) => Number(value.replace(',', '.')) : (value: string) => value;
  return (a, b) => {
    const [one, other] = [values.get(a), values.get(b)];
    if (!one || !other) throw new RangeError('a key that was not listed');
    if ((one.value === '') !== (other.value === '')) return one.value === '' ? 1 : -1;
    const difference = compare(read(one.value), read(other.value));
    if (difference !== 0) return isDescending ? -difference : difference;
    return compare(one.checkIn, other.checkIn);
  };
}

function compare(a: string | number, b: string | number): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
