import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export type FileServiceMessage =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'worked'; readonly seconds: number };

export interface RunningFileService {
  readonly baseUrl: string;
  /** Seconds that the service itself worked since the last call. */
  takeWorkedSeconds(): Promise<number>;
  stop(): Promise<void>;
}

/** Starts the stand-in that reviews files in a folder served by SFTP. */
export async function startFileService(servedFolder: string): Promise<RunningFileService> {
  const child = fork(fileURLToPath(new URL('file-service.ts', import.meta.url)), [servedFolder], {
    execArgv: ['--import', 'tsx'],
  });
  const listening = await nextMessage(child);
  if (listening.kind !== 'listening') throw new Error(`expected the service's port, got: ${listening.kind}`);
  return {
    baseUrl: `http://127.0.0.1:${listening.port}`,
    async takeWorkedSeconds() {
      const answer = nextMessage(child);
      child.send('how long');
      const worked = await answer;
      if (worked.kind !== 'worked') throw new Error(`expected the service's time, got: ${worked.kind}`);
      return worked.seconds;
    },
    async stop() {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}

/** @throws Error when the service exits instead */
async function nextMessage(child: ChildProcess): Promise<FileServiceMessage> {
  const waiting = new AbortController();
  const { signal } = waiting;
  const ended = once(child, 'exit', { signal }).then(([code]): never => {
    throw new Error(`the stand-in of the service ended with ${code}`);
  });
  try {
    const [message] = await Promise.race([once(child, 'message', { signal }), ended]);
    return message as FileServiceMessage;
  } finally {
    ended.catch(() => {});
    waiting.abort();
  }
}
