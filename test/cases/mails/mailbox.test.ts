import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createMailPoller, type FoundMail, MailboxError } from '../../../src/cases/mails/mailbox.js';
import type { MailTaker } from '../../../src/cases/mails/take-mail.js';
import { createGate } from '../../support/gate.js';

const pollMs = 60_000;
const toMail = (from: string): FoundMail => ({ from, bytes: Buffer.from(from) });

/** A poller of a mailbox whose content is replaced between polls. */
function prepare(take: (from: string) => Promise<void> = async () => {}) {
  let content: readonly string[] | Error = [];
  let reads = 0;
  const written: string[] = [];
  const noted: unknown[] = [];
  const taker = {
    resume: async () => void written.push('resume'),
    async take({ from }: FoundMail) {
      written.push(`take ${from}`);
      await take(from);
    },
  } as unknown as MailTaker;
  const stop = new AbortController();
  const poller = createMailPoller({
    mailbox: {
      async *readNew() {
        reads += 1;
        if (content instanceof Error) throw content;
        yield* content.map(toMail);
      },
    },
    taker,
    pollMs,
    notify: ({ type }) => void written.push(type),
    noteMailbox: async (...tried) => void noted.push(tried),
    clock: Date.now,
    signal: stop.signal,
  });
  return {
    poller,
    stop,
    hold: (held: typeof content) => {
      content = held;
    },
    reads: () => reads,
    noted,
    /** What was done since the last call. */
    take: () => written.splice(0),
    nextPoll: () => vi.advanceTimersByTimeAsync(pollMs),
  };
}

describe('the poller of a mailbox', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('reads at the start and at each poll, and each time first opens the cases that were left', async () => {
    const { poller, hold, take, nextPoll } = prepare();
    hold(['a', 'b']);
    poller.start();
    await vi.advanceTimersByTimeAsync(0);
    expect(take()).toEqual(['resume', 'take a', 'take b', 'mailbox-read']);
    hold(['c']);
    await vi.advanceTimersByTimeAsync(pollMs - 1);
    expect(take()).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(take()).toEqual(['resume', 'take c', 'mailbox-read']);
    await nextPoll();
    expect(take()).toEqual(['resume', 'take c', 'mailbox-read']);
    await poller.close();
  });

  it('says once that the mailbox is unavailable, and once that it needs a person, tries again, and says when it is back', async () => {
    const { poller, hold, take, nextPoll } = prepare();
    hold(new Error('away'));
    poller.start();
    await nextPoll();
    await nextPoll();
    expect(take()).toEqual(['resume', 'mailbox-away', 'resume', 'resume']);
    hold(new MailboxError('the login is refused', true));
    for (let poll = 0; poll < 3; poll += 1) await nextPoll();
    expect(take()).toEqual(['resume', 'mailbox-away', 'resume', 'resume']);
    hold(['a']);
    await nextPoll();
    expect(take()).toEqual(['resume', 'take a', 'mailbox-back', 'mailbox-read']);
    hold(new Error('away again'));
    await nextPoll();
    expect(take()).toEqual(['resume', 'mailbox-away']);
    await poller.close();
  });

  it('notes when each look at the mailbox began, and whether it was read', async () => {
    const { poller, hold, noted, nextPoll } = prepare();
    hold(['a']);
    const begunAt = Date.now();
    poller.start();
    await vi.advanceTimersByTimeAsync(0);
    hold(new Error('away'));
    await nextPoll();
    hold([]);
    await nextPoll();
    expect(noted).toEqual([
      [begunAt, true],
      [begunAt + pollMs, false],
      [begunAt + 2 * pollMs, true],
    ]);
    await poller.close();
  });

  it('does not start another poll while it reads', async () => {
    const gate = createGate();
    const { poller, hold, reads, nextPoll } = prepare(() => gate.passed);
    hold(['a']);
    poller.start();
    await nextPoll();
    await nextPoll();
    expect(reads()).toBe(1);
    gate.open();
    await nextPoll();
    expect(reads()).toBe(2);
    await poller.close();
  });

  it.each(['stopped', 'closed'])(
    'that is %s finishes the e-mail in progress and takes no other',
    async (how) => {
      const gate = createGate();
      const { poller, stop, hold, take, nextPoll } = prepare(() => gate.passed);
      hold(['a', 'b']);
      poller.start();
      await vi.advanceTimersByTimeAsync(0);
      let hasClosed = false;
      if (how === 'stopped') stop.abort();
      const closed = poller.close().then(() => {
        hasClosed = true;
      });
      await vi.advanceTimersByTimeAsync(0);
      expect(hasClosed).toBe(false);
      gate.open();
      await closed;
      await poller.close();
      await nextPoll();
      expect(take()).toEqual(['resume', 'take a']);
      expect(vi.getTimerCount()).toBe(0);
    },
  );
});
