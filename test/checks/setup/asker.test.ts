import { getEventListeners } from 'node:events';
import { PassThrough } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { StoppedError } from '../../../src/base/safe-error.js';
import { createAsker } from '../../../src/checks/setup/asker.js';
import { captureStream } from '../../support/captured-stream.js';
import { patienceMs } from '../../support/patience.js';

function sit() {
  const input = new PassThrough();
  const screen = captureStream({ isTTY: true });
  const stop = new AbortController();
  const asker = createAsker(input, screen.stream, stop.signal);
  const reads = (text: string) => vi.waitUntil(() => screen.text().includes(text), { timeout: patienceMs });
  return { asker, input, screen, stop, reads };
}

const question = {
  message: 'Your word',
  check: (answer: string) => (answer === 'bad' ? 'expected a good one' : undefined),
};
const failureOf = (answer: Promise<unknown>) => answer.catch((error: unknown) => error);

describe('A question on a terminal', () => {
  it('says at once what is wrong with an answer, and waits for another', async () => {
    const { asker, input, stop, reads } = sit();
    const listening = () => [input.listenerCount('close'), getEventListeners(stop.signal, 'abort').length];
    const before = listening();
    const answer = asker.ask(question);
    await reads('Your word');
    input.write('bad\r');
    await reads('expected a good one');
    input.write('better\r');
    expect(await answer).toBe('better');
    expect(listening()).toEqual(before);
  });

  it('for a secret does not show it', async () => {
    const { asker, input, screen, reads } = sit();
    const answer = asker.ask({ ...question, isSecret: true });
    await reads('Your word');
    input.write('geheim\r');
    expect(await answer).toBe('geheim');
    expect(screen.text()).not.toMatch(/[geh]{3}/);
  });

  it.each([
    ['', 'one'],
    ['3\rTwo\r2', 'two'],
  ])(
    'for a choice takes a number, or an empty line for the default, and nothing else (%j)',
    async (typed, value) => {
      const { asker, input, screen, reads } = sit();
      const answer = asker.choose('Which?', { one: 'One', two: 'Two' }, 'one');
      await reads('2  Two');
      for (const line of typed.split('\r')) {
        const shown = screen.text().length;
        input.write(`${line}\r`);
        await Promise.race([answer, vi.waitUntil(() => screen.text().slice(shown).includes('from 1 to 2'))]);
      }
      expect(await answer).toBe(value);
    },
  );

  it.each([
    ['Ctrl-C', '\x03'],
    ['Ctrl-D', '\x04'],
  ])('ends with %s', async (_, key) => {
    const { asker, input, reads } = sit();
    const answer = failureOf(asker.ask(question));
    await reads('Your word');
    input.write(key);
    expect(await answer).toBeInstanceOf(StoppedError);
  });

  it('ends when the process is stopped, and is not asked again', async () => {
    const { asker, screen, stop, reads } = sit();
    const reason = new StoppedError('SIGTERM');
    const answer = failureOf(asker.ask(question));
    await reads('Your word');
    stop.abort(reason);
    expect(await answer).toBe(reason);
    expect(await failureOf(asker.ask({ ...question, message: 'Another' }))).toBe(reason);
    expect(screen.text()).not.toContain('Another');
  });
});
