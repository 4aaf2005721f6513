import { createTransport, type HttpResult, readRetryAfter } from '../../transports/http/transport.js';
import {
  type Channel,
  ChannelError,
  type ChannelParts,
  confirmWithinMs,
  describeUnreached,
  type Message,
} from '../channel.js';

export interface WebCall {
  /** JSON */
  readonly body: string;
  /** Names and values alternating. */
  readonly headers?: readonly string[];
}

interface WebReceiver {
  readonly name: string;
  readonly url: string;
  /** Writes the call for a message. */
  readonly render: (message: Message) => WebCall;
  /** Reads the code of a failure in the body of a 2xx answer. */
  readonly findFault: ((body: string) => string | undefined) | undefined;
}

const connectTimeoutMs = 10_000;
const maxAnswerBytes = 65_536;

/** A channel that posts JSON to an address. A 2xx means that the message was accepted, unless its body says otherwise. */
export function createWebChannel(
  receiver: WebReceiver,
  { proxy, clock, timeoutMs = confirmWithinMs.web }: ChannelParts,
): Channel {
  const { name, url, render } = receiver;
  const { origin, pathname, search } = new URL(url);
  const transport = createTransport({
    origin,
    connections: 4,
    timeoutMs,
    connectTimeoutMs: Math.min(connectTimeoutMs, timeoutMs),
    maxAnswerBytes,
    proxy,
  });
  return {
    name,
    async send(message, signal) {
      const { body, headers = [] } = render(message);
      let isSent = false;
      const call = transport.call({
        method: 'POST',
        path: `${pathname}${search}`,
        headers: ['content-type', 'application/json', 'user-agent', 'booked-hotel-review', ...headers],
        body: Buffer.from(body),
        onSent: () => {
          isSent = true;
        },
        signal,
      });
      const result = await call.catch((error: unknown) => {
        throw isSent || !signal.aborted ? error : explainUnreached(name, 'timeout');
      });
      const refusal = readRefusal(receiver, result, new Date(clock()));
      if (refusal !== undefined) throw refusal;
    },
    close: () => transport.close(),
  };
}

/** Undefined if the message was accepted. The response is never quoted: it may quote the request. */
function readRefusal(
  { name, findFault }: WebReceiver,
  { answer, failure }: HttpResult,
  now: Date,
): ChannelError | undefined {
  // The status is enough, even if the connection broke after it.
  if (answer !== undefined) {
    const { status } = answer;
    const isAccepted = status >= 200 && status < 300;
    const code = isAccepted ? findFault?.(answer.body.toString()) : `http-${status}`;
    if (code === undefined) return undefined;
    return new ChannelError(
      `${name}: the receiver did not accept the message (${code})${isAccepted ? '' : adviceFor(status)}`,
      code,
      // A proxy got no answer in time.
      { retryAfterMs: readRetryAfter(answer.retryAfter, now), mayHaveArrived: status === 504 },
    );
  }
  const code = failure?.code === 'connect-timeout' ? 'timeout' : (failure?.code ?? 'network-error');
  return explainUnreached(name, code, { mayHaveArrived: failure?.meaning === 'broken' });
}

function explainUnreached(name: string, code: string, outcome = { mayHaveArrived: false }): ChannelError {
  return new ChannelError(`${name}: ${describeUnreached('the receiver', code)}`, code, outcome);
}

function adviceFor(status: number): string {
  if (status >= 300 && status < 400) return ': redirects are not followed; set its url to the target address';
  return [400, 401, 403, 404, 410].includes(status) ? ': are its address and its secret right?' : '';
}
