import { describe, expect, it } from 'vitest';
import type { CollectParts } from '../../../src/review/collect/collect.js';
import type { VolumeSettings } from '../../../src/rules/volume.js';
import { fakeLedger } from '../../support/fake-ledger.js';
import { createArraySource, readerOf, record, records } from '../array-source.js';
import { lenient, now, prepareCollect } from '../collecting.js';

const asked: string[][] = [];
/** Each of the last eight weeks had 40 bookings. */
const past = fakeLedger({
  mappings: { isEmpty: async () => true },
  runs: {
    async listVolumes(days) {
      asked.push([...days]);
      return days.map((day) => ({ day, accepted: 40, providers: { Bedlink: 40 } }));
    },
    listFilters: async () =>
      [12, 13, 14, 15, 16, 17, 18, 19].map((date) => ({
        day: `2026-11-${date}`,
        columns: [{ ...where, leftOut: 40 }],
      })),
  },
});

function guarded(settings: Partial<VolumeSettings> = {}): Partial<CollectParts> {
  const volume: VolumeSettings = { shareOfUsual: 0.5, onDrop: 'warn', exceptions: [], ...settings };
  return { past, limits: { ...lenient, volume } };
}

/** None is left out, where each of eight days left out forty. */
const where = { column: 'Status', condition: '{}', isOfWords: true, taken: 19, leftOut: 0 };
const few = [records(0, 19).map(({ place }) => record(place, { ProviderName: 'Bedlink' }))];
const filtered = few.map((chunk) => ({ records: chunk, where: [where] }));
const drop = {
  accepted: 19,
  usual: 40,
  drops: [
    { provider: null, accepted: 19, usual: 40 },
    { provider: 'Bedlink', accepted: 19, usual: 40 },
  ],
};

describe('the volume guard of a collect', () => {
  it('reports a drop, keeps it with the run, and continues', async () => {
    const { right, collect, events } = await prepareCollect();
    expect(await collect(few, guarded())).toMatchObject({ state: 'delivering', volume: drop });
    expect(asked.at(-1)).toContain('2026-11-13');
    expect(events).toContainEqual({
      type: 'volume-dropped',
      run: { id: right.runId, day: '2026-11-20' },
      volume: drop,
    });
  });

  it('warns of a steady day that is low, and does not fail it', async () => {
    const { right, collect, events } = await prepareCollect();
    const low = [records(0, 25, { ProviderName: 'Bedlink' })];
    const { volume } = await collect(low, guarded({ shareOfUsual: undefined, onDrop: 'fail' }));
    const run = { id: right.runId, day: '2026-11-20' };
    expect(events).toContainEqual({ type: 'volume-low', run, volume });
  });

  it('fails before anything is planned if a drop fails a day, and still keeps it with the run', async () => {
    const { right, ledger, collect, events } = await prepareCollect();
    await expect(collect(few, guarded({ onDrop: 'fail' }))).rejects.toMatchObject({
      code: 'volume-dropped',
      message: expect.stringContaining('19 bookings, usually 40; Bedlink: 19, usually 40'),
    });
    const run = await ledger.runs.get(right.runId);
    expect(run).toMatchObject({ state: 'collecting', openSteps: 0, volume: drop });
    expect(events.map(({ type }) => type)).not.toContain('volume-dropped');
  });

  it('lets an accepted day pass, and tells nobody', async () => {
    const { collect, events } = await prepareCollect();
    const accepted = { acceptances: { volume: { at: now, by: 'Ana' } } };
    const run = await collect(few, guarded({ onDrop: 'fail' }), undefined, accepted);
    expect(run).toMatchObject({ state: 'delivering', volume: drop });
    expect(events.map(({ type }) => type)).not.toContain('volume-dropped');
  });

  it('compares no day that is not over, whoever asked for it', async () => {
    const { collect, events } = await prepareCollect();
    const clock = () => Date.parse('2026-11-20T13:00:00Z');
    const run = await collect(filtered, { ...guarded({ onDrop: 'fail' }), clock });
    expect(run.volume).toBeUndefined();
    expect(run.filters).toEqual({ columns: [where], warnings: [] });
    expect(events.map(({ type }) => type)).not.toContain('volume-dropped');
  });

  it('compares what the source holds when a run tops up a day, not only the new part', async () => {
    const { collect } = await prepareCollect();
    const topsUp = [undefined, { topsUp: true }] as const;
    expect((await collect(few, guarded(), ...topsUp)).volume).toEqual(drop);
    const other = await prepareCollect();
    const twice = await other.collect([...few, ...few], guarded({ onDrop: 'fail' }), ...topsUp);
    expect(twice.volume).toMatchObject({ accepted: 38, drops: [] });
  });
});

it.each([2, 4, 0])(
  'fails with another number of records than the hook expects by then: %i',
  async (expected) => {
    const { right, ledger, collect } = await prepareCollect();
    const source = createArraySource([records(0, 3)], {
      onPull: () => void ledger.runs.noteExpected(right.runId, expected),
    });
    await expect(collect([], { reader: readerOf(source) })).rejects.toMatchObject({
      code: 'unexpected-count',
      message: expect.stringContaining(`holds 3 records, but the end-of-day hook expected ${expected}:`),
    });
    // A run of today need not find all of them.
    const ofToday = await collect([], { reader: readerOf(source) }, undefined, { trigger: 'today' });
    expect(ofToday).toMatchObject({ state: 'delivering', expected });
  },
);
