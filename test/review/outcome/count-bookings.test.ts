import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  countBookings,
  type RecordedVerdict,
  type WalkedEntry,
  type WalkedRun,
} from '../../../src/review/outcome/count-bookings.js';
import { readStoredEntries } from '../../../src/review/outcome/stored-entries.js';
import { prepareDelivery } from '../delivering.js';
import { ok, refusal, unavailable } from '../scripted-service.js';

const verdicts = ['correct', 'incorrect', 'not-in-result', 'unclear'] as const;

const entries = fc.record(
  {
    key: fc.constantFrom('a', 'b', 'c'),
    state: fc.constantFrom('delivered', 'delivered', 'delivered', 'refused', 'pending', 'void'),
    verdict: fc.option(fc.constantFrom(...verdicts), { nil: undefined }),
    isSuspect: fc.boolean(),
    isSuperseded: fc.constantFrom(false, false, true),
  },
  { requiredKeys: ['key', 'state'] },
) as fc.Arbitrary<WalkedEntry>;

/** Newest first. */
const days = fc.array(fc.array(entries, { maxLength: 6 }), { maxLength: 5 });

const batchSize = 2;

function toRun(held: readonly WalkedEntry[], index: number): WalkedRun {
  return {
    id: `run ${index}`,
    hasPending: held.some(({ state }) => state === 'pending'),
    async *read() {
      for (let from = 0; from < held.length; from += batchSize)
        yield {
          stream: index % 2 === 0 ? ('file' as const) : ('posted' as const),
          batch: from / batchSize,
          entries: held.slice(from, from + batchSize),
        };
    },
  };
}

/** What the result says of the booking after all, from the verdicts on it, newest first. */
function judge(said: readonly (RecordedVerdict | undefined)[]): RecordedVerdict | undefined {
  const known = said.filter((verdict) => verdict !== undefined);
  const cleared = known.indexOf('correct');
  const isIncorrect = known.slice(0, cleared === -1 ? undefined : cleared).includes('incorrect');
  return isIncorrect ? 'incorrect' : known[0];
}

interface Counted {
  readonly run: number;
  readonly row: number;
  readonly entry: WalkedEntry;
  readonly said: (RecordedVerdict | undefined)[];
}

/** The definition, with a list for each key. */
function count(day: readonly (readonly WalkedEntry[])[]): readonly Counted[] {
  const byKey = new Map<string, Counted[]>();
  const held = day.map((): Map<string, number> => new Map());
  for (const wanted of [['delivered', 'refused'], ['pending']])
    for (const [run, ofRun] of day.entries())
      for (const [row, entry] of ofRun.entries()) {
        if (!wanted.includes(entry.state) || entry.isSuperseded) continue;
        const occurrence = held[run]?.get(entry.key) ?? 0;
        held[run]?.set(entry.key, occurrence + 1);
        const counted = byKey.get(entry.key) ?? [];
        byKey.set(entry.key, counted);
        const known = counted[occurrence];
        if (known) known.said.push(entry.verdict);
        else counted.push({ run, row, entry, said: [entry.verdict] });
      }
  return [...byKey.values()].flat();
}

it('counts each booking as often as the run with most of it, with its latest verdict', async () => {
  await fc.assert(
    fc.asyncProperty(days, async (day) => {
      const counted = count(day);
      const { counts, rows } = await countBookings(day.map(toRun));
      const having = (is: (one: Counted) => boolean) => counted.filter(is).length;
      const isKnown = ({ said }: Counted) => ['correct', 'incorrect'].includes(judge(said) ?? '');
      expect(counts).toEqual({
        delivered: having(({ entry }) => entry.state === 'delivered'),
        refused: having(({ entry }) => entry.state === 'refused'),
        pending: having(({ entry }) => entry.state === 'pending'),
        incorrect: having(({ said }) => judge(said) === 'incorrect'),
        unansweredInFile: having((one) => one.run % 2 === 0 && !isKnown(one)),
        byBody: having((one) => one.run % 2 === 1 && !isKnown(one)),
        suspects: having(({ entry }) => entry.isSuspect === true),
      });
      const standings = rows.flatMap(({ runId, batch, standing, rows: held }) =>
        held.map((row) => `${runId}, ${batch * batchSize + row}: ${standing}`),
      );
      const expected = day.flatMap((ofRun, run) =>
        ofRun.flatMap(({ verdict }, row) => {
          const one = counted.find((candidate) => candidate.run === run && candidate.row === row);
          const standing = one ? judge(one.said) : 'uncounted';
          return standing === verdict || standing === undefined ? [] : [`run ${run}, ${row}: ${standing}`];
        }),
      );
      expect(standings.sort()).toEqual(expected.sort());
    }),
  );
});

it('finds the run of every counted booking and of every verdict that counts', async () => {
  const delivered = { key: 'a', state: 'delivered' } as const;
  const { contributing } = await countBookings(
    [
      [delivered],
      [{ ...delivered, verdict: 'correct' as const }],
      [{ ...delivered, verdict: 'correct' as const }],
    ].map(toRun),
  );
  expect([...contributing]).toEqual(['run 0', 'run 1']);
});

it('the bookings of a run have the state of the step that holds them', async () => {
  const { ledger, feed, workOff, run } = await prepareDelivery({
    ...{ bookings: 6, batchSize: 4 },
    answer: (sent) => (sent.includes('BR-1') ? refusal : sent.includes('BR-5') ? unavailable : ok),
  });
  await feed();
  await workOff();
  const states: string[] = [];
  for await (const { entries } of readStoredEntries(ledger, await run(), 'posted'))
    states.push(...entries.map(({ state }) => state));
  expect(states).toEqual([...['delivered', 'refused', 'delivered', 'delivered'], ...['pending', 'pending']]);
});
