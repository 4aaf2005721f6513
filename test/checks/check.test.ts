import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { type Check, type Finding, findingsOf, lookAtAll, type Part } from '../../src/checks/check.js';
import { makeApp } from './doctor/checked.js';

const check = (part: Part, look: Check['look'], seconds = 30): Check => ({ part, seconds, look });
const fine = (part: Part) => check(part, async () => [findingsOf(part).ok('fine')]);
const untilStopped = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason));
  });

async function lookAt(groups: Check[][], signal = new AbortController().signal) {
  const found: Finding[] = [];
  await lookAtAll(groups, makeApp(), { signal, tell: (finding) => found.push(finding) });
  return found;
}

describe('the checks', () => {
  it('are all made that apply, and told in order, whichever ends first', async () => {
    let finishSource = () => {};
    const slow = new Promise<void>((resolve) => {
      finishSource = resolve;
    });
    const { signal } = new AbortController();
    const checks: Check[][] = [
      [
        check('source', () => slow.then(() => [findingsOf('source').ok('slow')])),
        check('service', async () => {
          finishSource();
          return [findingsOf('service').wrong('quick')];
        }),
        { ...fine('keys'), appliesTo: ({ config }) => config.keys !== undefined },
      ],
      [fine('disk')],
    ];
    const found = await lookAt(checks, signal);
    expect(found.map(({ message }) => message)).toEqual(['slow', 'quick', 'fine']);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('find what an adapter throws, without quoting it, and continue', async () => {
    const error = new TypeError('quotes a guest');
    const found = await lookAt([
      [check('source', () => Promise.reject(error)), fine('service')],
      [fine('disk')],
    ]);
    expect(found).toEqual([
      { part: 'source', verdict: 'wrong', message: 'unexpected TypeError' },
      expect.objectContaining({ part: 'service' }),
      expect.objectContaining({ part: 'disk' }),
    ]);
  });

  it('are stopped when they take too long, and abandoned when they do not stop', async () => {
    let isStopped = false;
    const looks = [
      (_: unknown, signal: AbortSignal) =>
        untilStopped(signal).finally(() => {
          isStopped = true;
        }),
      () => new Promise<never>(() => {}),
    ];
    const found = await lookAt([[...looks.map((look) => check('sftp', look, 0.05)), fine('service')]]);
    const late = expect.objectContaining({ verdict: 'wrong', message: 'was not done within 0.05 s' });
    expect(found).toEqual([late, late, expect.objectContaining({ part: 'service' })]);
    expect(isStopped).toBe(true);
  });

  it('end with their signal once those that run have ended, and no others are made', async () => {
    const controller = new AbortController();
    const stopped = new Error('stopped');
    let isCleanedUp = false;
    const groups = [
      [
        check('source', (_, signal) => untilStopped(signal)),
        check('disk', () => new Promise(() => {})),
        check('sftp', async (_, signal) => {
          controller.abort(stopped);
          await untilStopped(signal).catch(() => new Promise((resolve) => setImmediate(resolve)));
          isCleanedUp = true;
          return [];
        }),
      ],
      [check('disk', async () => expect.unreachable('nothing else is checked'))],
    ];
    await expect(lookAt(groups, controller.signal)).rejects.toBe(stopped);
    expect(isCleanedUp).toBe(true);
  });
});
