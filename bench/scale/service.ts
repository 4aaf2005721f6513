import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PlannedAnswer } from './latency-model.js';

/** A mapping service that only models latency: accepts every body unread, and answers when its model says so. */
export interface Service {
  readonly baseUrl: string;
  /** Since `answerBy`. */
  readonly calls: number;
  readonly pushedBack: number;
  /** Accepted calls per second, without the first and the last tenth of them. */
  steadyPace(): number;
  /** Sets the model; without one it answers at once. */
  answerBy(model?: { next(): PlannedAnswer }): void;
  close(): void;
}

/** The value of `Retry-After`, in seconds. */
export const retryAfterSeconds = 1;

const accepted = JSON.stringify({ Status: true, Message: 'Success', StatusCode: 2000 });
const atOnce: PlannedAnswer = { delayMs: 0, status: 200 };

/** @param onFile called with the path of a file to review; resolves once the result is there */
export async function startService(onFile?: (path: string) => Promise<void>): Promise<Service> {
  let next = () => atOnce;
  let calls = 0;
  let pushedBack = 0;
  let acceptedAt: number[] = [];

  const server = createServer((request, response) => {
    const { delayMs, status } = next();
    calls += 1;
    if (status === 200) acceptedAt.push(performance.now());
    else pushedBack += 1;
    const answer = () => {
      if (status === 200) response.writeHead(200, { 'Content-Type': 'application/json' }).end(accepted);
      else response.writeHead(status, { 'Retry-After': `${retryAfterSeconds}` }).end();
    };
    const file = new URL(request.url ?? '', 'http://service').searchParams.get('ftpFilePath');
    request.resume().once('end', async () => {
      if (file !== null) await onFile?.(file);
      if (delayMs > 0) setTimeout(answer, delayMs).unref();
      else answer();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get calls() {
      return calls;
    },
    get pushedBack() {
      return pushedBack;
    },
    steadyPace() {
      const [from, to] = [Math.floor(acceptedAt.length / 10), Math.floor((9 * acceptedAt.length) / 10)];
      return (to - from) / (((acceptedAt[to] ?? 0) - (acceptedAt[from] ?? 0)) / 1000);
    },
    answerBy(model) {
      next = model ? () => model.next() : () => atOnce;
      calls = 0;
      pushedBack = 0;
      acceptedAt = [];
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
