import { describe, expect, it } from 'vitest';
import { type BookingSource, SourceError, type SourceRecord } from '../../src/review/source.js';
import { checkBookingSource, listReadingChecks, listSourceChecks } from '../../src/testing/source-checks.js';
import type { IntendedRecord, SourceDriver } from '../../src/testing/source-driver.js';
import { day } from '../sources/csv/csv-folder.js';

/** How a source can be faulty, or unusual. */
type Fault =
  /** Not a fault: a database source cancels its query through a connection of its own. */
  | 'opens-something-to-clean-up'
  | 'forgets-the-order'
  | 'counts-from-zero'
  | 'mixes-days'
  | 'reads-ahead'
  | 'reads-once'
  | 'tells-secrets'
  | 'ignores-the-signal'
  | 'ends-when-aborted'
  | 'ends-when-broken'
  | 'quotes-guests';

function createMemoryDriver(fault?: Fault): SourceDriver {
  const days = new Map<string, readonly IntendedRecord[]>();
  let given = 0;
  let open = 0;
  /** What else the next checks find open. */
  let cleaningUp: number[] = [];
  let readings = 0;
  let breaksAfter = Number.POSITIVE_INFINITY;
  const size = 1_000;

  const source: BookingSource = {
    locate: ({ iso }) => `the shelf of ${iso}${fault === 'tells-secrets' ? ' behind the-secret' : ''}`,
    placeUnit: 'record',
    measure: () => Promise.resolve(undefined),
    async *read({ iso }, { signal }) {
      if (fault !== 'ignores-the-signal') signal.throwIfAborted();
      readings += 1;
      const all = fault === 'mixes-days' ? [...days.values()].flat() : (days.get(iso) ?? []);
      const records = fault === 'reads-once' && readings % 2 === 0 ? all.slice(1) : all;
      open += 1;
      let isOpen = true;
      const close = () => {
        if (!isOpen) return;
        isOpen = false;
        open -= 1;
        if (signal.aborted && fault === 'opens-something-to-clean-up') cleaningUp = [0, 1, 1];
      };
      signal.addEventListener('abort', close);
      try {
        if (fault === 'reads-ahead') given += records.length;
        for (let at = 0; at < records.length; at += size) {
          await new Promise(setImmediate);
          if (signal.aborted && fault === 'ends-when-aborted') return;
          if (fault !== 'ignores-the-signal') signal.throwIfAborted();
          if (at >= breaksAfter) {
            if (fault === 'ends-when-broken') return;
            const quoted = fault === 'quotes-guests' ? records[at]?.BookingClientName : '';
            throw new SourceError('truncated', `the shelf broke ${quoted}`);
          }
          if (fault !== 'reads-ahead') given += Math.min(size, records.length - at);
          const chunk = records.slice(at, at + size).map((fields, index): SourceRecord => {
            return { place: at + index + (fault === 'counts-from-zero' ? 0 : 1), fields };
          });
          yield { records: fault === 'forgets-the-order' ? chunk.reverse() : chunk };
        }
        if (fault !== 'ignores-the-signal' && fault !== 'ends-when-aborted') signal.throwIfAborted();
      } finally {
        close();
      }
    },
  };
  return {
    prepare(records, { iso }) {
      days.set(iso, records);
      return Promise.resolve({
        source,
        places: records.map((_, index) => index + 1),
        secrets: ['the-secret'],
        taken: () => given / records.length,
        held: () => open + (cleaningUp.shift() ?? 0),
      });
    },
    prepareBroken(records, of) {
      breaksAfter = records.length / 2;
      return this.prepare(records, of);
    },
    prepareDays(several) {
      for (const { day: of, records } of several) days.set(of.iso, records);
      return Promise.resolve({ source });
    },
    dispose: () => Promise.resolve(),
  };
}

/** The names of the checks that a source with this fault fails. */
async function listFailed(fault?: Fault): Promise<string[]> {
  const failed: string[] = [];
  for (const { name, run } of listSourceChecks(() => createMemoryDriver(fault))) {
    await run().catch(() => failed.push(name));
  }
  return failed;
}

describe('the suite that every source must pass', () => {
  it('passes a correct source', async () => {
    expect(await listFailed()).toEqual([]);
  });

  it('passes one that opens something for a moment to clean up', async () => {
    expect(await listFailed('opens-something-to-clean-up')).toEqual([]);
  });

  it.each([
    ['forgets-the-order', 'returns every record, in order, with unchanged texts'],
    ['counts-from-zero', 'reports the place of each record'],
    ['mixes-days', 'reads nothing outside the requested day'],
    ['reads-ahead', 'does not read ahead of its reader'],
    ['reads-once', 'reads the same day again, and twice at once'],
    ['tells-secrets', 'says where it reads, without secrets'],
    ['ignores-the-signal', 'throws the reason at once if the signal has already aborted'],
    ['ignores-the-signal', 'stops when aborted between two chunks, and releases its resources'],
    ['ignores-the-signal', 'throws when aborted after the last chunk, too'],
    ['ends-when-aborted', 'stops when aborted during a read'],
    [
      'ends-when-broken',
      'throws when it breaks in the middle: a truncated day must not pass for a whole one',
    ],
    ['quotes-guests', 'throws when it breaks in the middle: a truncated day must not pass for a whole one'],
  ] satisfies [Fault, string][])('detects one that %s', async (fault, name) => {
    expect(await listFailed(fault)).toContain(name);
  });
});

describe('the checks for a source with any bookings', () => {
  const prepare = async (fault?: Fault) => {
    const { source, held } = await createMemoryDriver(fault).prepare(
      [{ ServiceId: '1' }, { ServiceId: '2' }],
      day,
    );
    return { source, day, ...(held && { held }) };
  };

  it('pass for a correct source, whatever its day holds', async () => {
    await checkBookingSource(await prepare());
    for (const { run } of listReadingChecks(await prepare())) await run();
  });

  it('name the first failed check', async () => {
    await expect(checkBookingSource(await prepare('reads-once'))).rejects.toThrow(
      'a source reads the same day again, and twice at once: this one does not',
    );
  });
});
