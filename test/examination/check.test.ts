import { describe, expect, it } from 'vitest';
import { type Check, examineAll } from '../../src/checks/examination/check.js';
import { type Finding, findingsOf, type Part } from '../../src/checks/examination/finding.js';
import { SftpError } from '../../src/transports/sftp/sftp.js';

const { signal } = new AbortController();

function check(part: Part, look: Check['look'], seconds = 30): Check {
  return { part, seconds, look };
}

const fine = (part: Part) => check(part, async () => [findingsOf(part).ok('fine')]);
const untilStopped = (abort: AbortSignal) =>
  new Promise<never>((_, reject) => {
    if (abort.aborted) reject(abort.reason);
    abort.addEventListener('abort', () => reject(abort.reason));
  });

async function examine(
  groups: Check[][],
  { abort = signal, onAbandoned = (): void => expect.unreachable('nothing is abandoned') } = {},
) {
  const reported: Finding[] = [];
  const found = await examineAll(groups, {
    signal: abort,
    tell: (finding) => reported.push(finding),
    onAbandoned,
  });
  expect(reported).toEqual(found);
  return found;
}

describe('the examination', () => {
  it('runs all checks, and reports them in order, whichever finishes first', async () => {
    let finishSource = () => {};
    const slow = new Promise<void>((resolve) => {
      finishSource = resolve;
    });
    const found = await examine([
      [
        check('source', async () => {
          await slow;
          return [findingsOf('source').ok('slow')];
        }),
        check('service', async () => {
          finishSource();
          return [findingsOf('service').wrong('quick')];
        }),
      ],
      [fine('disk')],
    ]);
    expect(found.map(({ message }) => message)).toEqual(['slow', 'quick', 'fine']);
  });

  it.each([
    ['an error of ours', new SftpError('fatal', 'x', 'the words of ours'), 'the words of ours'],
    [
      'a system error',
      Object.assign(new Error('EIO: read /x'), { syscall: 'read', code: 'EIO' }),
      'EIO: read /x',
    ],
    [
      'an error of others',
      Object.assign(new TypeError('quotes a guest'), { code: 'ERR_X' }),
      'unexpected TypeError ERR_X',
    ],
    ['what is no error', 'a guest', 'unexpected error'],
  ])('reports a check that throws as a finding, and continues: %s', async (_, error, message) => {
    const found = await examine([
      [check('source', () => Promise.reject(error)), fine('service')],
      [fine('disk')],
    ]);
    expect(found).toEqual([
      { part: 'source', verdict: 'wrong', message },
      expect.objectContaining({ part: 'service' }),
      expect.objectContaining({ part: 'disk' }),
    ]);
  });

  it('stops a check that takes too long, and continues', async () => {
    const found = await examine([[check('sftp', untilStopped, 0.05), fine('service')], [fine('disk')]]);
    expect(found.map(({ part, verdict }) => [part, verdict])).toEqual([
      ['sftp', 'wrong'],
      ['service', 'ok'],
      ['disk', 'ok'],
    ]);
    expect(found[0]?.message).toBe('was not done within 0.05 s');
  });

  it('does not wait for a check that does not stop', async () => {
    let abandoned = 0;
    const onAbandoned = () => {
      abandoned += 1;
    };
    const found = await examine([[check('disk', () => new Promise(() => {}), 0.05)]], { onAbandoned });
    expect(found).toEqual([expect.objectContaining({ part: 'disk', verdict: 'wrong' })]);
    expect(abandoned).toBe(1);
  });

  it('does not wait for it when aborted, either, and reports it as abandoned', async () => {
    const controller = new AbortController();
    const stopped = new Error('stopped');
    let abandoned = 0;
    const examining = examine(
      [
        [
          check('disk', () => {
            controller.abort(stopped);
            return new Promise(() => {});
          }),
        ],
      ],
      {
        abort: controller.signal,
        onAbandoned: () => {
          abandoned += 1;
        },
      },
    );
    await expect(examining).rejects.toBe(stopped);
    expect(abandoned).toBe(1);
  });

  it('takes the findings of a stopped check if they arrive in time', async () => {
    const found = await examine([
      [
        check(
          'sftp',
          (abort) => untilStopped(abort).catch(() => [findingsOf('sftp').warning('partly')]),
          0.05,
        ),
      ],
    ]);
    expect(found).toEqual([expect.objectContaining({ verdict: 'warning', message: 'partly' })]);
  });

  it('stops with its signal once running checks have ended, and starts no others', async () => {
    const controller = new AbortController();
    const stopped = new Error('stopped');
    let isCleanedUp = false;
    let isBegun = false;
    const groups = [
      [
        check('source', untilStopped),
        check('sftp', async (abort) => {
          controller.abort(stopped);
          await untilStopped(abort).catch(() => new Promise((resolve) => setImmediate(resolve)));
          isCleanedUp = true;
          return [];
        }),
      ],
      [
        check('disk', async () => {
          isBegun = true;
          return [];
        }),
      ],
    ];
    await expect(examine(groups, { abort: controller.signal })).rejects.toBe(stopped);
    expect([isCleanedUp, isBegun]).toEqual([true, false]);
  });
});
