import { afterEach, describe, expect, it, vi } from 'vitest';
import { pause } from '../../../src/async/abort.js';
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

describe('those who follow a run', () => {
  async function prepare() {
    const ledger = await openTemporaryLedger(() => at);
    const run = await collectedRun(ledger, 'r1', { bookings: references(8) });
    const asked: string[] = [];
    const find = (id: string) => {
      asked.push(id);
      return ledger.runs.find(id);
    };
    const { url } = await startDesk({ ledger: withReplaced(ledger, { runs: { find } }), clock: () => at });
    return { ledger, run, asked, url };
  }

  it('all get what has changed, and the end', async () => {
    const { ledger, run, asked, url } = await prepare();
    const follow = async () => {
      const seen: string[] = [];
      for await (const event of readEvents(url, '/runs/r1/events')) seen.push(event);
      return seen;
    };
    const followed = [follow(), follow()];
    // Each has looked twice by then.
    await vi.waitUntil(() => asked.length >= 4, 5_000);
    await perform(ledger, run, 'batch 0', done);
    await vi.waitUntil(() => asked.length >= 7, 5_000);
    await ledger.runs.settle(rightOf(run), { state: 'succeeded', at });
    for (const seen of await Promise.all(followed)) {
      expect(seen.map((event) => /\d of 8|event: end/.exec(event)?.[0])).toEqual([
        '0 of 8',
        '4 of 8',
        undefined,
        'event: end',
      ]);
    }
  });

  it('make nobody look any more once they have gone', async () => {
    const { asked, url } = await prepare();
    const gone = new AbortController();
    const { body } = await fetch(`${url}/runs/r1/events`, { signal: gone.signal });
    await body?.getReader().read();
    gone.abort();
    await pause(1_500, unstopped);
    expect(asked).toEqual(['r1']);
  });

  it('hear nothing of a run that does not exist', async () => {
    const { url } = await prepare();
    expect(await (await fetch(`${url}/runs/none/events`)).text()).toBe('');
  });
});
