import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createRunWatches } from '../../../src/desk/run-watch.js';
import { reviewDay } from '../../../src/review/review-day.js';
import { at, collectedRun, done, perform, references, rightOf } from '../../contracts/ledger/days.js';
import { ok } from '../../review/scripted-service.js';
import { openTemporaryLedger } from '../../review/temporary-ledger.js';
import { prepareWork, requestOf, unstopped } from '../../review/working-day.js';
import { withReplaced } from '../../support/fake-ledger.js';
import { createGate } from '../../support/gate.js';
import { startDesk, stopServers } from '../some-desk.js';

afterEach(stopServers);

/** The contents that a page shows, one after the other. */
async function* readEvents(url: string, path: string) {
  const { body } = await fetch(url + path);
  let text = '';
  for await (const piece of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    text += piece;
    const events = text.split('\n\n');
    text = events.pop() ?? '';
    yield* events.filter((event) => !event.startsWith(':'));
  }
}

it('The page of a real run follows its progress to the end', async () => {
  const gate = createGate();
  const ledger = await openTemporaryLedger();
  const work = await prepareWork({
    ledger,
    bookings: 6,
    batchSize: 2,
    answer: async () => {
      await gate.passed;
      return ok;
    },
  });
  const { parts } = work.startAlone();
  const running = reviewDay(requestOf(), parts, unstopped);
  let id: string | undefined;
  while (id === undefined) {
    const [run] = await ledger.runs.listActive();
    if (run?.state === 'delivering') id = run.id;
    else await new Promise((resolve) => setImmediate(resolve));
  }
  const { url } = await startDesk({ ledger, clock: Date.now });
  const seen: string[] = [];
  for await (const event of readEvents(url, `/runs/${id}/events`)) {
    seen.push(event);
    if (seen.length === 1) gate.open();
  }
  await running;
  expect(seen[0]).toContain('0 of 6');
  expect(seen.at(-2)).toContain('<dt>Delivered</dt>');
  expect(seen.at(-2)).toContain('Sent for review.');
  expect(seen.at(-1)).toBe('event: end\ndata:');
});

describe('those who watch a run', () => {
  async function prepare() {
    const ledger = await openTemporaryLedger(() => at);
    const run = await collectedRun(ledger, 'r1', { bookings: references(8) });
    const asked: string[] = [];
    const watches = createRunWatches({
      ledger: withReplaced(ledger, {
        runs: {
          find: (id) => {
            asked.push(id);
            return ledger.runs.find(id);
          },
        },
      }),
      clock: () => at,
      everyMs: 1,
    });
    return { ledger, run, asked, watches };
  }

  it('share one poll, and all see the end', async () => {
    const { ledger, run, asked, watches } = await prepare();
    const watchers = Array.from({ length: 20 }, () =>
      watches.watch('r1', new AbortController().signal)[Symbol.asyncIterator](),
    );
    const first = await Promise.all(watchers.map((watcher) => watcher.next()));
    expect(first.every(({ value }) => value?.run.counts.delivered === 0)).toBe(true);
    expect(asked).toEqual(['r1']);
    await perform(ledger, run, 'batch 0', done);
    const second = await Promise.all(watchers.map((watcher) => watcher.next()));
    expect(second.every(({ value }) => value?.run.counts.delivered === 4)).toBe(true);
    expect(asked).toHaveLength(2);
    await ledger.runs.settle(rightOf(run), { state: 'succeeded', at });
    const last = await Promise.all(watchers.map((watcher) => watcher.next()));
    expect(last.every(({ value }) => value?.run.state === 'succeeded')).toBe(true);
    const over = await Promise.all(watchers.map((watcher) => watcher.next()));
    expect(over.every(({ done: isOver }) => isOver)).toBe(true);
    expect(asked).toHaveLength(3);
  });

  it('leave no poll behind', async () => {
    const { asked, watches } = await prepare();
    const gone = new AbortController();
    const watcher = watches.watch('r1', gone.signal)[Symbol.asyncIterator]();
    await watcher.next();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const next = watcher.next();
    expect(vi.getTimerCount()).toBe(1);
    gone.abort();
    expect(await next).toMatchObject({ done: true });
    expect(vi.getTimerCount()).toBe(0);
    expect(asked).toHaveLength(1);
  });

  it('of a run that does not exist hear nothing', async () => {
    const { watches } = await prepare();
    expect(await watches.watch('none', unstopped)[Symbol.asyncIterator]().next()).toMatchObject({
      done: true,
    });
  });
});
