import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Ledger } from '../../src/ledger/ledger.js';
import type { PlannedMessage } from '../../src/ledger/notices.js';
import type { NewNotice } from '../../src/rules/notice.js';
import { at, newRun, startCollect } from './ledger/days.js';
import type { OpenedLedger } from './ledger.js';

const day = '2026-11-20';
const failed: NewNotice = {
  event: 'run-failed',
  subject: day,
  day,
  runId: 'r1',
  facts: { pending: 3 },
  raisedAt: at,
};
const late: NewNotice = { event: 'day-late', subject: day, day, facts: {}, raisedAt: at };
const recovery: NewNotice = {
  event: 'day-recovered',
  subject: day,
  day,
  facts: { ended: 'run-failed day-late' },
  raisedAt: at + 9,
};

/** One message to each of these channels, due at once. */
function toChannels(...channels: string[]) {
  let count = 0;
  return (): PlannedMessage[] =>
    channels.map((channel) => {
      count += 1;
      return { id: `${channel}-${count}`, channel, dueAt: at };
    });
}

/** The contract of every adapter of notices and their messages. */
export function describeNoticesContract(
  name: string,
  { open }: { readonly open: () => Promise<OpenedLedger> },
): void {
  describe(`the contract of notices: ${name}`, () => {
    let opened: OpenedLedger;
    let notices: Ledger['notices'];
    beforeEach(async () => {
      opened = await open();
      notices = opened.ledger.notices;
    });
    afterEach(() => opened.cleanUp());

    const raiseTo = async (...channels: string[]) => {
      await notices.raise([failed]);
      await notices.route(toChannels(...channels), at);
    };
    const claimAll = (channel: string, { now = at, store = notices } = {}) =>
      store.claim({ channel, at: now, dueBy: now, leaseUntil: now + 30, limit: 100 });

    it('raises a problem once while it lasts, whoever raises it', async () => {
      const other = (await opened.reopen()).notices;
      expect(await notices.raise([failed, late])).toBe(2);
      expect(await other.raise([{ ...failed, raisedAt: at + 1 }, late])).toBe(0);
      expect(await other.listProblems()).toEqual([
        { ...failed, number: 1, stage: 'raised', severity: 'critical', reminders: 0, lastToldAt: at },
        { ...late, number: 2, stage: 'raised', severity: 'critical', reminders: 0, lastToldAt: at },
      ]);
    });

    it('sends each reminder of a problem once, whichever process is first', async () => {
      await notices.raise([failed]);
      const other = (await opened.reopen()).notices;
      const [problem] = await notices.listProblems();
      if (!problem) throw new Error('no problem');
      expect([await notices.remind(problem, at + 5), await other.remind(problem, at + 6)]).toEqual([
        true,
        false,
      ]);
      expect(await notices.listProblems()).toMatchObject([{ reminders: 1, lastToldAt: at + 5 }]);
      await notices.end([problem], { at: at + 7 });
      expect(await notices.remind({ ...problem, reminders: 1 }, at + 8)).toBe(false);
    });

    it('hands a message to one process for as long as its lease lasts', async () => {
      await raiseTo('ops');
      const other = (await opened.reopen()).notices;
      const [claimed] = await claimAll('ops');
      expect(claimed).toMatchObject({
        id: 'ops-1',
        attempt: 1,
        notice: { event: 'run-failed', facts: { pending: 3 } },
      });
      expect(await claimAll('ops', { store: other })).toEqual([]);
      expect(await claimAll('ops', { store: other, now: at + 30 })).toMatchObject([
        { id: 'ops-1', attempt: 1 },
      ]);
      await other.noteSent(['ops-1'], at + 31);
      // The first holder comes too late: it stays sent.
      await notices.noteFailed(['ops-1'], { code: 'timeout', at: at + 32, retryAt: at + 40 });
      expect(await claimAll('ops', { now: at + 100 })).toEqual([]);
      expect(await notices.listMessages({ limit: 1 })).toMatchObject([
        { state: 'sent', attempts: 1, endedAt: at + 31 },
      ]);
    });

    it('sends early only what was not tried, gives back what was not sent, and routes nothing twice', async () => {
      await notices.raise([failed]);
      const toOps = (id: string) => () => [{ id, channel: 'ops', dueAt: at + 10 }];
      expect(await notices.route(toOps('m1'), at)).toBe(1);
      expect(await notices.route(toChannels('mail'), at)).toBe(0);
      const ahead = { channel: 'ops', at, dueBy: at + 10, leaseUntil: at + 30, limit: 100 };
      expect(await notices.claim(ahead)).toMatchObject([{ id: 'm1', attempt: 1 }]);
      await notices.release(['m1']);
      expect(await notices.claim(ahead)).toMatchObject([{ id: 'm1', attempt: 1 }]);
      await notices.noteFailed(['m1'], { code: 'http-503', at, retryAt: at + 8 });
      expect(await notices.claim(ahead)).toEqual([]);
      // Somebody asks to try all at once.
      await notices.stopWaiting(at + 1);
      expect(await notices.claim({ ...ahead, at: at + 1 })).toMatchObject([{ id: 'm1', attempt: 2 }]);
    });

    it('lists by channel what waits: what was not accepted, and what is due and not tried', async () => {
      await raiseTo('ops', 'mail');
      expect(await notices.listWaiting(at - 1)).toEqual([]);
      await claimAll('ops');
      expect(await notices.listWaiting(at - 1)).toEqual([]);
      await notices.noteFailed(['ops-1'], { code: 'http-503', at, retryAt: at + 8 });
      const ops = { channel: 'ops', messages: 1, since: at, lastCode: 'http-503' };
      expect(await notices.listWaiting(at - 1)).toEqual([ops]);
      expect(await notices.listWaiting(at)).toEqual([{ channel: 'mail', messages: 1, since: at }, ops]);
      await notices.noteSent(['ops-1'], at);
      // What was given up says nothing of what waits now.
      await notices.noteFailed(['mail-2'], { code: 'http-401', at });
      await notices.raise([late]);
      await notices.route(toChannels('mail'), at);
      expect(await notices.listWaiting(at)).toEqual([{ channel: 'mail', messages: 1, since: at }]);
    });

    it('tells each recovery of a day that goes wrong again', async () => {
      const heard: string[] = [];
      for (const [after, problem] of [late, failed].entries()) {
        await notices.raise([{ ...problem, raisedAt: at + after }]);
        const problems = await notices.listProblems();
        // Two processes find it over.
        for (const ended of [1, 0])
          expect(await notices.end(problems, { at: at + after, recovery })).toBe(ended);
        await notices.route(toChannels(`ops ${after}`), at);
        // The recovery waits for the message about the problem.
        for (const _ of [problem, recovery]) {
          const claimed = await claimAll(`ops ${after}`);
          heard.push(...claimed.map(({ notice }) => `${notice.event} ${notice.severity}`));
          await notices.noteSent(
            claimed.map(({ id }) => id),
            at,
          );
        }
      }
      const told = ['day-late', 'day-recovered', 'run-failed', 'day-recovered'];
      expect(heard).toEqual(told.map((event) => `${event} critical`));
    });

    it('lets the recovery of a part wait for the message about its own problem alone', async () => {
      const stale: NewNotice = { event: 'copy-stale', subject: 'mappings', facts: {}, raisedAt: at };
      await notices.raise([stale, { ...stale, event: 'sync-failing' }]);
      await notices.end((await notices.listProblems()).slice(0, 1), { at });
      await notices.route(toChannels('ops'), at);
      const claimed = async () => (await claimAll('ops')).map(({ id, notice }) => `${id} ${notice.stage}`);
      expect(await claimed()).toEqual(['ops-1 raised', 'ops-2 raised']);
      await notices.noteSent(['ops-1'], at);
      expect(await claimed()).toEqual(['ops-3 recovered']);
    });

    it('forgets what is old and over, with its messages, and no problem that lasts', async () => {
      const digest: NewNotice = { event: 'morning-digest', subject: day, day, facts: {}, raisedAt: at };
      await notices.raise([digest, failed]);
      await notices.route(toChannels('ops'), at);
      await opened.ledger.guests.prune('2026-12-01');
      expect(await notices.listProblems()).toMatchObject([{ event: 'run-failed' }]);
      const left = await notices.listMessages({ limit: 9 });
      expect(left.map(({ notice }) => notice.event)).toEqual(['run-failed']);
    });

    it('does not let a recovery wait for the morning digest about the day', async () => {
      const digest: NewNotice = { event: 'morning-digest', subject: day, day, facts: {}, raisedAt: at };
      await notices.raise([digest, failed]);
      await notices.end(await notices.listProblems(), { at: at + 9, recovery });
      const dueLater = (event: string) => (event === 'morning-digest' ? at + 1_000 : at);
      await notices.route(({ event }) => [{ id: event, channel: 'ops', dueAt: dueLater(event) }], at);
      await claimAll('ops');
      await notices.noteSent(['run-failed'], at);
      expect((await claimAll('ops')).map(({ notice }) => notice.event)).toEqual(['day-recovered']);
    });

    it('keeps a message that is being sent, and knows that it may arrive even if nobody says how it ended', async () => {
      await raiseTo('ops');
      await claimAll('ops');
      await notices.noteSending(['ops-1'], { sentAs: 'digest', leaseUntil: at + 90 });
      expect(await claimAll('ops', { now: at + 89 })).toEqual([]);
      const again = { id: 'ops-1', attempt: 1, unconfirmed: 1, sentAs: 'digest' };
      expect(await claimAll('ops', { now: at + 90 })).toMatchObject([again]);
    });

    it('forgets a try that has not arrived, and calls the others perhaps received when it gives up', async () => {
      await raiseTo('ops');
      const fail = async (hasNotArrived: boolean, retryAt?: number) => {
        await notices.noteSending(['ops-1'], { sentAs: 'ops-1', leaseUntil: at });
        await notices.noteFailed(['ops-1'], {
          code: 'timeout',
          at,
          hasNotArrived,
          ...(retryAt && { retryAt }),
        });
        const [message] = await notices.listMessages({ limit: 1 });
        return message && [message.state, message.unconfirmed];
      };
      expect(await fail(true, at + 5)).toEqual(['pending', 0]);
      expect(await fail(false, at + 5)).toEqual(['pending', 1]);
      // Who asks to try all at once would send it twice.
      await notices.stopWaiting(at + 1);
      expect(await claimAll('ops', { now: at + 1 })).toEqual([]);
      expect(await fail(true)).toEqual(['perhaps-received', 1]);
      expect(await notices.countMessages()).toEqual({ pending: 0, givenUp: 0, perhapsReceived: 1 });
    });

    it('gives up messages that have waited long for channels that no longer exist', async () => {
      await raiseTo('old', 'ops');
      await notices.giveUpOthers(['ops'], { raised: at, at: at + 5 });
      expect(await notices.countMessages()).toMatchObject({ pending: 2 });
      await notices.giveUpOthers(['ops'], { raised: at + 1, at: at + 5 });
      const messages = await notices.listMessages({ limit: 9 });
      expect(messages).toMatchObject([
        { channel: 'old', state: 'given-up', code: 'no-such-channel' },
        { channel: 'ops', state: 'pending' },
      ]);
    });

    it('raises that a provider is silent when the volume is noted', async () => {
      const { ledger } = opened;
      const run = await ledger.runs.create(newRun('r1'));
      const comparison = { accepted: 2, usual: 9, drops: [{ provider: 'Bedlink', accepted: 0, usual: 412 }] };
      await (await startCollect(ledger, run)).noteVolume({ at, providers: { Bedlink: 0 }, comparison });
      const accepted = newRun('r2', { day: '2026-11-21', acceptances: { volume: { at, by: 'ada' } } });
      const again = await startCollect(ledger, await ledger.runs.create(accepted));
      await again.noteVolume({ at, providers: { Bedlink: 0 }, comparison });
      await notices.route(toChannels('ops'), at);
      expect(await notices.listMessages({ limit: 9 })).toMatchObject([
        { notice: { event: 'provider-silent', facts: { provider: 'Bedlink', usual: 412 } } },
      ]);
    });
  });
}
