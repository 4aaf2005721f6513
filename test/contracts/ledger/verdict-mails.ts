import { describe, expect, it } from 'vitest';
import { hashReference } from '../../../src/booking/booking.js';
import type { NewMail, StoredBooking } from '../../../src/ledger/mails.js';
import type { OpenedLedger } from '../ledger.js';
import { at, collectedRun, lineOf, references } from './days.js';
import { collectedFileRun } from './file-days.js';

const mail: NewMail = {
  sha256: 'aa',
  messageId: '<m1@service.example>',
  receivedAt: at + 1_000,
  readAt: at + 2_000,
  from: 'imap://reviews@mail.example/INBOX',
  outcome: 'named',
  bookings: [],
  pairs: [],
};
const pair = { providerName: 'hotelbeds', providerHotelId: '007', serviceId: 7 };

export function describeVerdictMails(opened: () => OpenedLedger): void {
  describe('looking up bookings for an e-mail', () => {
    it('finds all hashes at once, in every stream and every run active since then, with their lines', async () => {
      const { ledger } = opened();
      await collectedFileRun(ledger, 'r1', { file: 6, body: 2 });
      await collectedRun(ledger, 'r2', { day: '2026-11-19', bookings: references(9) });
      const found = await find(opened(), at, ['B-1', 'BR-1', 'BR-8', 'F-5', 'nobody']);
      expect(
        found.map(({ runId, stream, batch, row }) => `${runId} ${stream} ${batch} ${row}`).sort(),
      ).toEqual(['r1 file 1 1', 'r1 posted 0 1', 'r2 posted 0 1', 'r2 posted 2 0']);
      expect(found.find(({ batch }) => batch === 2)).toMatchObject({
        day: '2026-11-19',
        line: lineOf('BR-8'),
      });
    });

    it('leaves out runs that ended before', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'old', { bookings: ['BR-1'] });
      await ledger.runs.abandon(run.id, { reason: 'over', at });
      expect(await find(opened(), at + 1, ['BR-1'])).toEqual([]);
      expect(await find(opened(), at, ['BR-1'])).toHaveLength(1);
    });
  });

  describe('verdict e-mails', () => {
    it('are recorded once, and a later reading only adds', async () => {
      const { ledger, reopen } = opened();
      await collectedRun(ledger, 'r1', { bookings: references(6) });
      const other = await reopen();
      const unknown: NewMail = { ...mail, outcome: 'nothing-known' };
      const { number } = await ledger.mails.record(unknown);
      expect(await other.mails.record({ ...unknown, readAt: at + 9_000 })).toEqual({
        number,
        isNew: false,
      });
      const bookings = await find(opened(), at, ['BR-2']);
      expect(await ledger.mails.record({ ...mail, bookings })).toEqual({ number, isNew: true });
      expect(await ledger.mails.record({ ...mail, bookings })).toEqual({ number, isNew: false });
      await ledger.mails.record(unknown);
      await ledger.mails.forget('aa');
      expect(await ledger.mails.findMail('aa')).toMatchObject({
        outcome: 'named',
        named: 1,
        readAt: at + 2_000,
      });
      expect(await ledger.mails.listMails({ limit: 5 })).toHaveLength(1);
      expect(await ledger.guests.describeStored()).toMatchObject({ mails: { count: 1, since: at + 2_000 } });
    });

    it('say why they name nothing, by what was found last, and wait for their cases until those are open', async () => {
      const { ledger } = opened();
      await collectedRun(ledger, 'r1', { bookings: references(6) });
      const unread: NewMail = { ...mail, outcome: 'unreadable', reason: 'too-large' };
      await ledger.mails.record(unread);
      await ledger.mails.record({ ...unread, outcome: 'nothing-known', reason: 'called-correct' });
      expect(await ledger.mails.listMails({ limit: 5 })).toMatchObject([{ reason: 'called-correct' }]);
      const bookings = await find(opened(), at, ['BR-2']);
      const naming = ['bb', 'cc'].map((sha256) => ({ ...mail, sha256, messageId: undefined, bookings }));
      for (const one of naming) await ledger.mails.record(one);
      const [first, second] = await ledger.mails.listWithoutCases();
      await ledger.mails.noteCasesOpened(second?.number ?? 0, at);
      expect(await ledger.mails.listWithoutCases()).toEqual([first]);
      const more = await find(opened(), at, ['BR-3']);
      await ledger.mails.record({ ...mail, sha256: 'cc', messageId: undefined, bookings: more });
      expect(await ledger.mails.listWithoutCases()).toHaveLength(2);
    });

    it('say until when the mailbox was read, and when it was last tried', async () => {
      const { mails } = opened().ledger;
      expect(await mails.describeMailbox()).toEqual({});
      await mails.noteMailbox(at, false);
      expect(await mails.describeMailbox()).toEqual({ triedAt: at });
      for (const later of [1, 5]) await mails.noteMailbox(at + later, true);
      expect(await mails.describeMailbox()).toEqual({ readUntil: at + 5, triedAt: at + 5 });
      await mails.noteMailbox(at + 9, false);
      expect(await mails.describeMailbox()).toEqual({ readUntil: at + 5, triedAt: at + 9 });
    });

    it('are removed with the bookings they name, or after the same time if they name none', async () => {
      const { ledger } = opened();
      await collectedRun(ledger, 'r1', { bookings: references(6) });
      const bookings = await find(opened(), at, ['BR-2']);
      await ledger.mails.record({ ...mail, bookings, pairs: [pair] });
      await ledger.mails.record({
        ...mail,
        sha256: 'dd',
        messageId: undefined,
        readAt: at + 864e5 * 400,
        outcome: 'nothing-known',
      });
      await ledger.runs.abandon('r1', { reason: 'over', at });
      await ledger.guests.prune('2027-01-01');
      expect(await ledger.mails.listMails({ limit: 5 })).toMatchObject([{ sha256: 'dd' }]);
      expect(await ledger.bookings.trace('BR-2')).toEqual([]);
    });
  });
}

async function find(
  { ledger }: OpenedLedger,
  since: number,
  wanted: readonly string[],
): Promise<StoredBooking[]> {
  const hashes = Uint32Array.from(wanted.map(hashReference)).sort();
  const found: StoredBooking[] = [];
  for await (const bookings of ledger.mails.findBookings(since, hashes)) found.push(...bookings);
  return found;
}
