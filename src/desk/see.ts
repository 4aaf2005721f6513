import type { Permission } from '../storage/access/roles.js';
import type { DeskVisit } from './page.js';

/** What a field of this name holds in any data of the desk, and who may see it. */
const restricted: Readonly<Record<string, Permission>> = {
  reference: 'see-bookings',
  references: 'see-bookings',
  /** People may name bookings and guests in a note. */
  note: 'see-bookings',
  /** Columns that are kept but not sent. */
  kept: 'see-bookings',
};

/**
 * The same data with null for whatever this visitor may not see. All data of pages passes here before it is rendered or sent, so that
 * no page can forget it.
 */
export function see<Data>(data: Data, visit: DeskVisit): Data {
  const hidden = new Set(Object.keys(restricted).filter((name) => !visit.may(restricted[name] ?? 'look')));
  return hidden.size === 0 ? data : (hide(data, hidden) as Data);
}

function hide(value: unknown, hidden: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((each) => hide(each, hidden));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, hidden.has(name) ? null : hide(each, hidden)]),
  );
}
