import { createLedger, type Engine, type Ledger, type ReadOnlyLedger } from '../../src/ledger/ledger.js';
import type { Dialect, Store } from '../../src/ledger/query.js';

/** Some methods of some areas of a ledger. */
export type LedgerParts<Whole extends ReadOnlyLedger = Ledger> = {
  readonly [Area in keyof Whole]?: Whole[Area] extends (...values: never) => unknown
    ? Whole[Area]
    : Partial<Whole[Area]>;
};

/** A ledger that has these methods only: a call of another one fails, and names it. */
export function fakeLedger(parts: LedgerParts): Ledger {
  const ledger = createLedger(store, engine, () => 0);
  const failing = Object.entries(ledger).map(([area, methods]) => [area, refuseAll(area, methods)] as const);
  return withReplaced({ ...ledger, ...Object.fromEntries(failing) }, parts);
}

/** The same ledger with other methods in some of its areas. */
export function withReplaced<Whole extends ReadOnlyLedger>(ledger: Whole, parts: LedgerParts<Whole>): Whole {
  const areas = Object.entries<unknown>(parts).map(
    ([area, part]) =>
      [area, typeof part === 'function' ? part : Object.assign({}, Reflect.get(ledger, area), part)] as const,
  );
  const replaced: Whole = { ...ledger, ...Object.fromEntries(areas) };
  // Nobody leaves before the end of a fake.
  return Object.assign(replaced, { stoppedBy: () => replaced });
}

function refuseAll(area: string, methods: unknown): unknown {
  if (typeof methods === 'function') return () => refuse(area);
  if (typeof methods !== 'object' || methods === null) return methods;
  const names = Object.entries(methods).map(
    ([name, method]) =>
      [name, typeof method === 'function' ? () => refuse(`${area}.${name}`) : method] as const,
  );
  return Object.fromEntries(names);
}

function refuse(name: string): Promise<never> {
  return Promise.reject(new TypeError(`the fake ledger of this test has no ${name}`));
}

const unused = () => refuse('database');

const store: Store = {
  get dialect(): Dialect {
    throw new TypeError('a fake ledger has no database');
  },
  ...{ read: unused, readTogether: unused, transact: unused, renew: unused, transactUnflushed: unused },
  ...{ erase: unused, clearRemains: unused },
};

const engine: Engine = {
  ...{ hold: unused, holdPlace: unused, staleHoldMs: 0, ping: unused, verify: unused, close: unused },
  claims: { claim: unused, record: unused },
};
