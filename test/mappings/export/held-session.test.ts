import { expect, it } from 'vitest';
import type { ExportEvent } from '../../../src/mappings/events.js';
import { useSession } from '../../../src/mappings/export/fetch-export.js';
import { SftpError, type SftpSession } from '../../../src/transports/sftp/sftp.js';

const lost = new SftpError('retryable', 'connection-lost', 'look at x: the connection was lost');
const denied = new SftpError('denied', 'permission-denied', 'look at x: the server denies it');

function createParts(most = 3) {
  const events: ExportEvent[] = [];
  const happened: string[] = [];
  const session: Pick<SftpSession, 'close'> = { close: async () => void happened.push('close') };
  return {
    events,
    happened,
    parts: {
      sftp: {
        async connect() {
          happened.push('connect');
          return session as SftpSession;
        },
      },
      backOff: (failures: number) => (failures < most ? failures * 10 : undefined),
      pause: async (milliseconds: number) => void happened.push(`pause ${milliseconds}`),
      notify: (event: ExportEvent) => events.push(event),
    },
  };
}

const { signal } = new AbortController();

it('retries in a new session after a delay, and reports why', async () => {
  const { parts, happened, events } = createParts();
  let tries = 0;
  const result = await useSession(parts, signal, async () => {
    tries += 1;
    if (tries < 3) throw lost;
    return 'done';
  });
  expect(result).toBe('done');
  const once = ['connect', 'close'];
  expect(happened).toEqual([...once, 'pause 10', ...once, 'pause 20', ...once]);
  expect(events).toEqual([
    { type: 'held-off', reason: lost.message, delayMs: 10 },
    { type: 'held-off', reason: lost.message, delayMs: 20 },
  ]);
});

it('continues as long as each session makes progress', async () => {
  const { parts } = createParts();
  let tries = 0;
  await useSession(parts, signal, async (_session, progressed) => {
    tries += 1;
    progressed();
    if (tries < 50) throw lost;
  });
  expect(tries).toBe(50);
});

it('does not retry what is denied, nor after an abort', async () => {
  const { parts, happened } = createParts();
  await expect(useSession(parts, signal, () => Promise.reject(denied))).rejects.toBe(denied);
  const stop = new AbortController();
  const reason = new Error('asked to stop');
  const stopped = useSession(parts, stop.signal, async () => {
    stop.abort(reason);
    throw lost;
  });
  await expect(stopped).rejects.toBe(reason);
  expect(happened).toEqual(['connect', 'close', 'connect', 'close']);
});
