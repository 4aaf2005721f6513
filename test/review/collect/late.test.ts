import { describe, expect, it } from 'vitest';
import { guestNameChoices } from '../../../src/booking/sending.js';
import { blankNames } from '../../../src/booking/stored-line.js';
import { buildRequestBody } from '../../../src/review/body/body-delivery.js';
import { indexDelivered } from '../../../src/review/collect/delivered-lines.js';
import { renderReviewFile } from '../../../src/review/file/file-attempt.js';
import { hasUnexpectedCount } from '../../../src/rules/run.js';
import { newRun, references } from '../../contracts/ledger/days.js';
import { readWhole } from '../../support/blocks.js';
import { record, records } from '../array-source.js';
import { createForgetfulMemory } from '../forgetful-memory.js';
import {
  collectRun,
  deliverRun,
  deliveryOf,
  type LateDay,
  storedReferences,
  whole,
  wholes,
} from '../late-days.js';
import { openTemporaryLedger } from '../temporary-ledger.js';

async function prepare(kind: LateDay['kind'], batchSize = 4): Promise<LateDay> {
  return { ledger: await openTemporaryLedger(), kind, batchSize };
}

const topsUp = { topsUp: true } as const;
const never = new AbortController().signal;

describe('late bookings', () => {
  it('are recognised by their fields when the master id has another name now', async () => {
    const late = await prepare('body');
    await deliverRun(late.ledger, await collectRun(late, 'r1', records(0, 9)));
    const renamed = { ...late, masterIdName: 'MappingsId' };
    const run = await collectRun(renamed, 'r2', records(0, 10), topsUp);
    expect(run.counts).toMatchObject({ accepted: 1, duplicates: 9 });
    const lines = await late.ledger.bookings.readBatch('r2', 'posted', 0);
    expect(buildRequestBody(lines, { first: 0, bookings: 1 }, run.masterIdName).toString()).toContain(
      '{"MappingsId":700009,',
    );
  });

  it.each(['body', 'file'] as const)('by %s hide no record of the source from the limits', async (kind) => {
    const late = await prepare(kind);
    await deliverRun(late.ledger, await collectRun(late, 'r1', wholes(0, 95)));
    const broken = Array.from({ length: 6 }, (_, index) => record(200 + index, { ServiceId: 'x' }));
    const limits = { maxRejectedShare: 0.05, emptyDay: 'succeed', batchSize: 4 } as const;
    const collecting = collectRun(late, 'r2', [...wholes(0, 94), ...broken], { ...topsUp, limits });
    await expect(collecting).rejects.toMatchObject({ code: 'too-many-rejects' });
  });

  it('may all lack their hotel, which fails a whole day', async () => {
    const incomplete = { maxShare: 0.5, provider: true, hotelId: true };
    const limits = { maxRejectedShare: 1, emptyDay: 'succeed', batchSize: 4, incomplete } as const;
    await expect(collectRun(await prepare('body'), 'r1', records(0, 20), { limits })).rejects.toMatchObject({
      code: 'too-many-incomplete',
    });
    const run = await collectRun(await prepare('body'), 'r1', records(0, 20), { ...topsUp, limits });
    expect(run.counts).toMatchObject({ accepted: 20 });
    // The other of the two is not asked for.
    const named = { limits: { ...limits, incomplete: { ...incomplete, hotelId: false } } };
    const some = records(0, 20, { ProviderName: 'Bedlink' });
    expect((await collectRun(await prepare('body'), 'r1', some, named)).counts.accepted).toBe(20);
  });
});

describe('late bookings by file', () => {
  it('are first in a new file, followed by everything delivered before', async () => {
    const late = await prepare('file');
    const { ledger } = late;
    await deliverRun(ledger, await collectRun(late, 'r1', wholes(0, 10)));
    const run = await collectRun(late, 'r2', wholes(5, 8), topsUp);
    expect(await storedReferences(ledger, 'r2', 'file')).toEqual([
      ...['BR-10', 'BR-11', 'BR-12'],
      ...references(10),
    ]);
    expect(run.counts).toMatchObject({
      read: 8,
      accepted: 3,
      carried: 10,
      duplicates: 5,
      rejected: 0,
      pending: 3,
    });
    expect(await ledger.runs.tally('r2')).toMatchObject({ stored: 13 });
    // What it repeats is found in it, too.
    for (const reference of references(13))
      expect((await ledger.bookings.trace(reference)).map(({ run }) => run.id)).toContain('r2');
    // As the hook announced: what the file repeats was not in the source.
    expect(hasUnexpectedCount({ ...run, expected: 8 })).toBe(false);
  });

  it('may be none that can be in it, as long as few of the whole day are such', async () => {
    const late = await prepare('file');
    await deliverRun(late.ledger, await collectRun(late, 'r1', wholes(0, 5)));
    const limits = { maxRejectedShare: 1, emptyDay: 'succeed', batchSize: 4, maxPostedShare: 0.5 } as const;
    const run = await collectRun(late, 'r2', [...wholes(0, 5), record(5)], { ...topsUp, limits });
    expect(run.counts).toMatchObject({ accepted: 1, posted: 1 });
  });

  it('are followed by nothing that the source has replaced, at this collect or at an earlier one', async () => {
    const late = await prepare('file');
    await deliverRun(late.ledger, await collectRun(late, 'r1', wholes(0, 3)));
    const source = [whole(0, { ProviderHotelId: 'another' }), ...wholes(1, 2)];
    for (const id of ['r2', 'r3']) {
      source.push(whole(source.length));
      await deliverRun(late.ledger, await collectRun(late, id, source, topsUp));
      expect((await storedReferences(late.ledger, id, 'file')).sort()).toEqual(references(source.length));
    }
  });

  it('exclude what was delivered by body, which completes the file', async () => {
    const late = await prepare('file');
    const { ledger } = late;
    const byBody = { ...late, kind: 'body' } as const;
    await deliverRun(ledger, await collectRun(byBody, 'r1', [record(0), ...wholes(1, 5)]));
    await deliverRun(ledger, await collectRun(late, 'r2', wholes(1, 2)));
    const run = await collectRun(late, 'r3', [record(0), ...wholes(1, 6)], topsUp);
    expect(run.counts).toMatchObject({ duplicates: 6 });
    expect(await storedReferences(ledger, 'r3', 'file')).toEqual([
      ...['BR-6', 'BR-1', 'BR-2', 'BR-3'],
      ...['BR-4', 'BR-5'],
    ]);
    expect(await storedReferences(ledger, 'r3', 'posted')).toEqual([]);
  });
});

describe('what runs of today sent by body', () => {
  it.each(guestNameChoices)(
    'is in no file of the night, whose lines are others, with guestNames: %s',
    async (names) => {
      const late = { ...(await prepare('file')), names };
      const ofToday = { ...late, kind: 'body', trigger: 'today' } as const;
      await deliverRun(late.ledger, await collectRun(ofToday, 'r1', [record(0), ...wholes(1, 5)]));
      await deliverRun(late.ledger, await collectRun(ofToday, 'r2', [record(0), ...wholes(1, 8)], topsUp));
      const run = await collectRun(late, 'r3', [record(0), ...wholes(1, 10), record(11)], topsUp);
      expect(run.counts).toMatchObject({ read: 12, accepted: 3, duplicates: 9 });
      const stored = [
        ...(await storedReferences(late.ledger, 'r3', 'file')),
        ...(await storedReferences(late.ledger, 'r3', 'posted')),
      ];
      expect(stored).toEqual(['BR-9', 'BR-10', 'BR-11']);
    },
  );

  it('is recognised without names if a late night finds them blanked', async () => {
    const late = await prepare('file');
    const ofToday = { ...late, kind: 'body', trigger: 'today' } as const;
    await deliverRun(late.ledger, await collectRun(ofToday, 'r1', wholes(0, 5)));
    await late.ledger.guests.blankNames('2027-01-01', blankNames);
    const run = await collectRun(late, 'r2', wholes(0, 7), topsUp);
    expect(run.counts).toMatchObject({ accepted: 2, duplicates: 5 });
    expect(await storedReferences(late.ledger, 'r2', 'file')).toEqual(['BR-5', 'BR-6']);
  });
});

describe('a top-up', () => {
  it('of runs without their names sends nothing', async () => {
    const late = await prepare('body');
    const { ledger } = late;
    await deliverRun(ledger, await collectRun(late, 'r1', records(0, 3)));
    await ledger.guests.blankNames('2027-01-01', blankNames);
    await expect(collectRun(late, 'r2', records(0, 3), topsUp)).rejects.toMatchObject({
      name: 'CollectError',
      code: 'names-blanked',
    });
  });
});

describe('what was delivered', () => {
  it('is recognised by its bytes, not by a hash alone', async () => {
    const late = await prepare('body');
    const { ledger } = late;
    await deliverRun(ledger, await collectRun(late, 'r1', records(10, 30)));
    await ledger.runs.create(newRun('r2', { topsUp: true }));
    const known = await indexDelivered(ledger, 'r2', deliveryOf(late), never, {
      memory: createForgetfulMemory(),
    });
    const has = async (line: string) => {
      const bytes = Buffer.from(`xx\n${line}\n`);
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
      return known.has({ bytes, view, ends: [2, bytes.length - 1] }, 1);
    };
    for (const line of (await ledger.bookings.readBatch('r1', 'posted', 0)).toString().trimEnd().split('\n'))
      expect(await has(line)).toBe(true);
    const [last] = (await ledger.bookings.readBatch('r1', 'posted', 7)).toString().split('\n');
    expect(await has(last ?? '')).toBe(true);
    // The same length as a delivered one, and therefore the same hash here.
    expect(await has((last ?? '').replace(/BR-\d\d/, 'BR-99'))).toBe(false);
    expect(await has((last ?? '').replace('Lovelace', 'Lovelive'))).toBe(false);
  });
});

describe('late bookings after the setting guestNames was changed', () => {
  const changes = guestNameChoices.flatMap((before) =>
    guestNameChoices.map((after) => [before, after] as const),
  );

  it.each(changes)(
    'are in a file with those that were delivered, none of which gets its name back: from %s to %s',
    async (before, after) => {
      const late = await prepare('file');
      await deliverRun(late.ledger, await collectRun({ ...late, names: before }, 'r1', wholes(0, 6)));
      const run = await collectRun({ ...late, names: after }, 'r2', wholes(0, 7), topsUp);
      expect(run.counts).toMatchObject({ read: 7, accepted: 1, carried: 6, duplicates: 6 });
      const [, ...lines] = (await readWhole(renderReviewFile(late.ledger, run))).trimEnd().split('\n');
      const earlier = before === 'send' ? after : before;
      const forms = [after, ...Array.from({ length: 6 }, () => earlier)];
      const cells = lines.map((line) => line.split(','));
      expect(cells.map(([, reference, name]) => (name === reference ? 'omit' : name))).toEqual(
        forms.map((stream) => (stream === 'omit' ? 'omit' : 'Ana Lovelace')),
      );
    },
  );

  it('are told apart from those in the file, whose guests may be called like their reference', async () => {
    const late = await prepare('file');
    const named = [0, 1, 2].map((index) => whole(index, { BookingClientName: `BR-${index}` }));
    await deliverRun(late.ledger, await collectRun(late, 'r1', named));
    const run = await collectRun(late, 'r2', [...named, ...wholes(3, 1)], topsUp);
    expect(run.counts).toMatchObject({ accepted: 1, carried: 3, duplicates: 3, posted: 0 });
  });
});
