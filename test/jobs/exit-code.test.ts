import { expect, it } from 'vitest';
import { describeFailure, stackFrames } from '../../jobs/failure.js';

const guest = 'Ana Lovelace';

it('An error that is not ours never has its message shown, which may quote a booking, nor has its stack', () => {
  const coded = Object.assign(new TypeError(guest), { code: 'ERR_SOMETHING' });
  const thrown: readonly [unknown, string][] = [
    [errorOf(() => JSON.parse(`{"BookingClientName": ${guest}`)), 'unexpected SyntaxError'],
    [new Error(guest), 'unexpected Error'],
    [new Error('outer', { cause: new Error(guest) }), 'unexpected Error'],
    [new AggregateError([new Error(guest)], guest), 'unexpected AggregateError'],
    [coded, 'unexpected TypeError ERR_SOMETHING'],
    [guest, 'unexpected error'],
    [undefined, 'unexpected error'],
    [{ message: guest }, 'unexpected error'],
  ];
  const advice = '; run it again with --stack-trace to see where';
  for (const [error, words] of thrown) {
    const message = error instanceof Error ? words + advice : words;
    expect(describeFailure(error)).toEqual({ exitCode: 1, class: 'internal', message });
    expect(stackFrames(error)).not.toContain(guest);
  }
  for (const message of [guest, `first line\n    at ${guest} (guest.js:1:1)\nlast line`, '']) {
    const frames = stackFrames(new Error(message));
    expect(frames).toContain('exit-code.test.ts');
    expect(frames).not.toContain(guest);
    for (const line of frames.split('\n')) expect(line).toMatch(/^ +at /);
  }
});

function errorOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}
