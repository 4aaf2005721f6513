import { describe, expect, it } from 'vitest';
import type { Booking } from '../../../src/booking/booking.js';
import { createBodyDelivery } from '../../../src/review/body/body-delivery.js';
import { reviewName } from '../../../src/review/file/file-attempt.js';
import { createFileDelivery } from '../../../src/review/file/file-delivery.js';
import { claimStep } from '../../contracts/ledger/days.js';
import { createOutside } from '../../crash/outside.js';
import { createSftpDouble } from '../../crash/sftp-double.js';
import { readWhole } from '../../support/blocks.js';
import { fileBooking, fileOf } from './file-bookings.js';
import { fileBookings, now, prepareFileRun } from './file-run.js';

const named = (bookingClientName: string) => fileBooking({ bookingClientName });
const { signal } = new AbortController();

it('the plan of a file run begins with the file, if any booking can be in it, and has those of each batch in the batch', async () => {
  const { delivery } = await prepareDelivery();
  const plan = (file: number, posted: number) =>
    delivery.plan({ file, posted }).map(({ name, bookings }) => `${name}: ${bookings}`);
  expect(plan(7, 5)).toEqual(['write: 7', 'batch 0: 4', 'batch 1: 1']);
  expect(plan(0, 4)).toEqual(['batch 0: 4']);
  expect(plan(0, 0)).toEqual([]);
});

describe('performing a step of a file run', () => {
  it('writes the file from the ledger and returns its rows, bytes and checksum', async () => {
    const { delivery, ledger, run, parts } = await prepareDelivery();
    await parts.spool.write('20261120-givenup.csv', noBytes());
    await parts.spool.write('20261119-k3f9xq7d.csv', noBytes());
    const outcome = await delivery.perform(await claimStep(ledger, run, 'write'), signal);
    const { bytes, sha256 } = (await parts.spool.measure(reviewName(run))) ?? {};
    expect(outcome).toEqual({
      kind: 'done',
      evidence: { code: 'ok', sha256 },
      file: { rows: 5, bytes, sha256 },
    });
    expect(await readWhole(parts.spool.read(reviewName(run)))).toBe(fileOf(fileBookings(5)).toString());
    // Leftovers of an abandoned run of the day are removed; those of other days are not.
    expect((await parts.spool.list()).toSorted()).toEqual(['20261119-k3f9xq7d.csv', '20261120-k3f9xq7d.csv']);
  });

  it('ends the run if the written file breaks the file rules, with the place and without the cell', async () => {
    const bookings = [fileBooking(), named('null')];
    const { delivery, ledger, run } = await prepareDelivery(bookings);
    const outcome = await delivery.perform(await claimStep(ledger, run, 'write'), signal);
    expect(outcome).toEqual({
      kind: 'fatal',
      evidence: { code: 'review-file-reads-as-null' },
      advice:
        'the written file breaks the file rules at row 2, column BookingClientName; nothing was sent: please report this and keep the ledger',
    });
  });

  it('ends the run if the file differs from the recorded one', async () => {
    const { delivery, ledger, run, finish } = await prepareDelivery();
    const written = await finish('write', { sha256: 'ab'.repeat(32) });
    const claim = await claimStep(ledger, run, 'upload');
    expect(await delivery.perform({ ...claim, run: written }, signal)).toEqual({
      kind: 'fatal',
      evidence: { code: 'review-file-changed' },
      advice:
        'the review file of run 20261120-k3f9xq7d differs from the recorded one: the ledger no longer holds its bookings as they were written.',
    });
  });
});

it('a file that is written after its run was taken over is left to the new owner, and removed once the run was cancelled', async () => {
  const { delivery, ledger, run, parts } = await prepareDelivery();
  const claim = await claimStep(ledger, run, 'write');
  await ledger.runs.takeOver(run.id);
  await delivery.perform(claim, signal);
  expect(await parts.spool.list()).toEqual([reviewName(run)]);
  await ledger.runs.abandon(run.id, { reason: 'wrong', at: now });
  await delivery.perform(claim, signal);
  expect(await parts.spool.list()).toEqual([]);
});

async function prepareDelivery(bookings: readonly Booking[] = fileBookings(5)) {
  const prepared = await prepareFileRun({ bookings });
  const { parts } = prepared;
  const service = { reviewBookedHotels: async () => ({ kind: 'accepted', code: 'posted' }) as const };
  const body = createBodyDelivery({ service, masterIdName: 'VervotechId', batchSize: 4 });
  const delivery = createFileDelivery({
    ...parts,
    sftp: createSftpDouble(createOutside(now)),
    body,
    incomplete: 'post',
    timezone: 'Europe/Madrid',
  });
  return { ...prepared, delivery };
}

async function* noBytes(): AsyncGenerator<Uint8Array> {}
