import type { ChildProcess } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { hashReference } from '../../../src/booking/booking.js';
import { converse, type ProcessLimits, startLimited } from '../../../src/cases/mails/limited-process.js';
import { megabyte } from '../../../src/cases/mails/mail-bytes.js';
import { createMailProcess, readerLimits } from '../../../src/cases/mails/mail-process.js';
import { UnreadMailError } from '../../../src/cases/mails/records.js';
import { makeTemporaryFolder } from '../../support/temporary-folder.js';
import { mailOf, words } from './mails.js';

/** The built process that reads e-mails, with other limits. */
function prepare(limits: Partial<ProcessLimits> = {}) {
  const started: ChildProcess[] = [];
  const url = new URL('../../../dist/jobs/processes/mail-reader.js', import.meta.url);
  const reader = createMailProcess(words, () => {
    const child = startLimited(url, { ...readerLimits, ...limits });
    started.push(child);
    return child;
  });
  onTestFinished(reader.close);
  /** The references that an e-mail names, of two known ones. */
  const read = async (text: string) => {
    const known = ['BR-1042', 'BR-1043'];
    let asked: ReadonlySet<number> = new Set();
    const { named } = await reader.examine(Buffer.from(mailOf('text/plain', text)), async (hashes) => {
      asked = new Set(hashes);
      const bookings = known.map((reference) => ({ reference, serviceId: 1 }));
      return { bookings, canaries: [], providers: [] };
    });
    expect(
      known.filter((_, place) => named.includes(place)).every((one) => asked.has(hashReference(one))),
    ).toBe(true);
    return named.map((place) => known[place]);
  };
  return { reader, read, started };
}

/** Takes about a second, and 200 MB. */
const large = 'Hotel in the town by the sea\r\n'.repeat(200_000);

describe('The process that reads e-mails', () => {
  it('reads one after the other, and is started once', async () => {
    const { read, started } = prepare();
    expect(started).toHaveLength(0);
    expect(await read('Incorrect: BR-1042')).toEqual(['BR-1042']);
    expect(await read('Incorrect: BR-1043')).toEqual(['BR-1043']);
    expect(started).toHaveLength(1);
  });

  it('that died between two e-mails is replaced', async () => {
    const { read, started } = prepare();
    await read('Incorrect: BR-1042');
    const [child] = started as [ChildProcess];
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await read('Incorrect: BR-1043')).toEqual(['BR-1043']);
    expect(started).toHaveLength(2);
  });

  it('ends once no e-mail has come for ten seconds, and not before', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const kill = vi.fn();
    const answer = (order: object) => ('known' in order ? { mail: {} } : { hashes: new Uint32Array() });
    const events = new EventEmitter();
    const child = Object.assign(events, {
      ...{ kill, exitCode: null, signalCode: null },
      send: (order: object) => events.emit('message', answer(order)),
    });
    const { examine } = createMailProcess(words, () => child as unknown as ChildProcess);
    const lookUp = async () => ({ bookings: [], canaries: [], providers: [] });
    await examine(Buffer.from('one'), lookUp);
    vi.advanceTimersByTime(9_999);
    await examine(Buffer.from('two'), lookUp);
    vi.advanceTimersByTime(9_999);
    expect(kill).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(kill).toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('gets none of the variables of ours: some are secrets', async () => {
    const file = join(makeTemporaryFolder(), 'say.mjs');
    writeFileSync(file, 'process.on("message", () => process.send({ ...process.env }));');
    const child = startLimited(pathToFileURL(file), readerLimits);
    onTestFinished(() => void child.kill());
    expect(Object.keys(await converse<object>(child, {}))).not.toContain('PATH');
  });

  it.each([
    ['too-slow', { processorMs: 300 }],
    ['too-much-memory', { processBytes: 90 * megabyte }],
  ] as const)(
    'dies of an e-mail that is %s with %o, twice, and is replaced for the next',
    async (reason, limits) => {
      const { read, started } = prepare(limits);
      await expect(read(large)).rejects.toMatchObject({ name: 'UnreadMailError', reason });
      expect(started).toHaveLength(2);
      expect(await read('Incorrect: BR-1042')).toEqual(['BR-1042']);
      expect(started).toHaveLength(3);
    },
  );

  it('does not blame the e-mail when the ledger is away', async () => {
    const { reader, read } = prepare();
    const away = new Error('the ledger is away');
    const bytes = Buffer.from(mailOf('text/plain', 'Incorrect: BR-1042'));
    const failing = reader.examine(bytes, async () => {
      throw away;
    });
    await expect(failing).rejects.toBe(away);
    expect(failing).not.toBeInstanceOf(UnreadMailError);
    expect(await read('Incorrect: BR-1042')).toEqual(['BR-1042']);
  });

  it('says why an e-mail cannot be read, without dying', async () => {
    const { reader, read, started } = prepare();
    const lookUp = async () => ({ bookings: [], canaries: [], providers: [] });
    await expect(reader.examine(Buffer.from('504b0304140000', 'hex'), lookUp)).rejects.toMatchObject({
      ...{ name: 'UnreadMailError', reason: 'no-text' },
    });
    await expect(reader.examine(Buffer.alloc(25 * megabyte + 1), lookUp)).rejects.toMatchObject({
      reason: 'too-large',
    });
    expect(await read('Incorrect: BR-1042')).toEqual(['BR-1042']);
    expect(started).toHaveLength(1);
  });
});
