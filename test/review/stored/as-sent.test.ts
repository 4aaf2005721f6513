import { describe, expect, it } from 'vitest';
import { blankNames } from '../../../src/booking/stored-line.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import { reviewName, spoolReviewFile } from '../../../src/review/file/file-attempt.js';
import { createSentComparer, renderAsSent } from '../../../src/review/stored/as-sent.js';
import { claimStep, done, record } from '../../contracts/ledger/days.js';
import { readWhole } from '../../support/blocks.js';
import { prepareDelivery } from '../delivering.js';
import { fileBooking } from '../file/file-bookings.js';
import { prepareFileRun } from '../file/file-run.js';
import { ok, refusal } from '../scripted-service.js';
import { someRun } from '../some-run.js';

/** What is said of each booking of that reference. */
async function compare(ledger: Ledger, reference: string) {
  const traces = await ledger.bookings.trace(reference);
  const compareSent = createSentComparer(ledger);
  return Promise.all(traces.map(compareSent));
}

/** Changes the stored lines behind the ledger's back. */
const rewrite = (ledger: Ledger, runId: string, from: string, to: string) =>
  ledger.guests.eraseBookings(runId, (lines) => ({
    rows: [0],
    lines: Buffer.from(lines.toString().replaceAll(from, to)),
  }));

describe('a body, rendered again', () => {
  async function delivered() {
    const delivering = await prepareDelivery({
      bookings: 9,
      batchSize: 4,
      answer: (sent) => (sent.includes('BR-5') ? refusal : ok),
    });
    await delivering.feed();
    await delivering.workOff();
    return delivering;
  }

  it('is the same as was sent, also of a half, until a booking of it was changed', async () => {
    const { ledger, right } = await delivered();
    for (const reference of ['BR-0', 'BR-4', 'BR-5', 'BR-6', 'BR-8'])
      expect(await compare(ledger, reference)).toEqual(['same']);
    await rewrite(ledger, right.runId, 'BR-1,', 'BR-Q,');
    expect(await compare(ledger, 'BR-0')).toEqual(['differs']);
    expect(await compare(ledger, 'BR-4')).toEqual(['same']);
  });

  it('is not comparable once names were removed, of all or of one', async () => {
    const { ledger, right } = await delivered();
    await ledger.guests.beginErasing(right.runId, 0);
    await rewrite(ledger, right.runId, 'Ana Lovelace', '');
    expect(await compare(ledger, 'BR-0')).toEqual(['names-removed']);
    const other = await delivered();
    await other.ledger.guests.blankNames('2027-01-01', blankNames);
    expect(await compare(other.ledger, 'BR-0')).toEqual(['names-removed']);
  });
});

describe('a file, rendered again', () => {
  it.each(['send', 'omit'] as const)(
    'is the same as was sent, until a line is changed: names %s',
    async (guestNames) => {
      const bookings = ['BR-1', 'BR-2', 'BR-3'].map((bookingReferenceId) => {
        const { bookingClientName, ...others } = fileBooking({ bookingReferenceId });
        return { ...others, ...(guestNames === 'send' && { bookingClientName }) };
      });
      const { ledger, parts, run, finish } = await prepareFileRun({
        bookings,
        guestNames,
        masterIdColumn: 'My Id',
      });
      const { sha256 } = await spoolReviewFile(parts, run);
      await finish('write', { sha256 });
      await finish('upload');
      const triggered = { ...done, evidence: { ...done.evidence, sha256 } };
      await record(ledger, await claimStep(ledger, run, 'trigger'), triggered, 0);
      expect(await compare(ledger, 'BR-3')).toEqual(['same']);
      const [, ...rows] = (await readWhole(parts.spool.read(reviewName(run)))).trimEnd().split('\n');
      expect(rows[2]).toContain(guestNames === 'omit' ? ',BR-3,BR-3,' : ',BR-3,Ana Example,');
      const [line = ''] = (await ledger.bookings.readBatch(run.id, 'file', 1)).toString().split('\n');
      expect(renderAsSent(run, 'file', line).toString()).toBe(rows[2]);
      await rewrite(ledger, run.id, '00123', '00124');
      expect(await compare(ledger, 'BR-3')).toEqual(['differs']);
    },
  );
});

it('A posted booking as it was sent is an item, under the name that its run has for the master id', () => {
  const run = someRun({ masterIdName: 'HotelCode' });
  expect(renderAsSent(run, 'posted', '7,BR-1,"Doe, J",,,,').toString()).toBe(
    '{"HotelCode":7,"BookingReferenceId":"BR-1","BookingClientName":"Doe, J"}',
  );
});
