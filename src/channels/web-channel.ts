import { createTransport, type HttpResult, readRetryAfter } from '../http/transport.js';
import { type Channel, ChannelError, type Message } from '../notifications/channel.js';
import type { ChannelParts } from './channel-parts.js';

export interface WebCall {
  /** JSON */
  readonly body: string;
  /** Names and values alternating. */
  readonly headers?: readonly string[];
}

/** Writes the call for a message. */
export type RenderCall = (message: Message) => WebCall;

interface WebReceiver {
  readonly name: string;
  readonly url: string;
  readonly render: RenderCall;
}

const usualTimeoutMs = 15_000;
const maxAnswerBytes = 65_536;

/** A channel that posts JSON to an address. Any 2xx means that the message was accepted. */
export function createWebChannel(
  { name, url, render }: WebReceiver,
  { proxy, clock, timeoutMs = usualTimeoutMs }: ChannelParts,
): Channel {
  const { origin, pathname, search } = new URL(url);
  const transport = createTransport({
    origin,
    connections: 4,
    timeoutMs,
    connectTimeoutMs: timeoutMs,
    maxAnswerBytes,
    proxy,
  });
  return {
    name,
    async send(message, signal) {
      const { body, headers = [] } = render(message);
      const result = await transport.call({
        method: 'POST',
        path: `${pathname}${search}`,
        headers: ['content-type', 'application/json', 'user-agent', 'booked-hotel-review', ...headers],
        body: Buffer.from(body),
        signal,
      });
      const refusal = readRefusal(name, result, new Date(clock()));
      if (refusal !== undefined) throw refusal;
    },
    close: () => transport.close(),
  };
}

/** Undefined if the message was accepted. The response is never quoted: it may quote the request. */
function readRefusal(name: string, { answer, failure }: HttpResult, now: Date): ChannelError | undefined {
  // The status is enough, even if the connection broke after it.
  if (answer !== undefined) {
    const { status } = answer;
    if (status >= 200 && status < 300) return undefined;
    const code = `http-${status}`;
    return new ChannelError(
      `${name}: the receiver did not accept the message (${code})${adviceFor(status)}`,
      code,
      readRetryAfter(answer.retryAfter, now),
    );
  }
  const code = failure?.code === 'connect-timeout' ? 'timeout' : (failure?.code ?? 'network-error');
  switch (code) {
    case 'timeout':
      return new ChannelError(`${name}: the receiver did not answer in time`, code);
    case 'tls-certificate':
      return new ChannelError(
        `${name}: the certificate of the receiver is not trusted (${code}); name the file of its authority in NODE_EXTRA_CA_CERTS`,
        code,
      );
    default:
      return new ChannelError(`${name}: the receiver can't be reached (${code})`, code);
  }
}

function adviceFor(status: number): string {
  if (status >= 300 && status < 400) return ': redirects are not followed; set its url to the target address';
  return [400, 401, 403, 404, 410].includes(status) ? ': are its address and its secret right?' : '';
}
