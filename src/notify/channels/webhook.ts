import { joiner } from '../../base/foreign-text.js';
import { readKeys, sign } from '../../transports/http/webhook-signature.js';
import type { Message } from '../channel.js';
import type { WebCall } from './web-channel.js';

/**
 * A call signed according to Standard Webhooks. It has a signature for each key, so that the receiver may
 * interpret a secret without `whsec_` either way.
 *
 * @param now epoch milliseconds
 */
export function renderWebhook(message: Message, secret: string, now: number): WebCall {
  const { id, event, stage, severity, day, runId, title, text, url, counts } = message;
  // A program reads it: it gets the names as they are.
  const [ownTitle, ownText] = [title, text].map((one) => one.replaceAll(joiner, ''));
  const body = JSON.stringify({
    id,
    event,
    stage,
    severity,
    day: day ?? null,
    runId: runId ?? null,
    title: ownTitle,
    text: ownText,
    url: url ?? null,
    counts,
  });
  const timestamp = String(Math.floor(now / 1000));
  const signed = { id, timestamp, body: Buffer.from(body) };
  const signatures = readKeys(secret).map((key) => sign(signed, key));
  return {
    body,
    headers: [
      'webhook-id',
      id,
      'webhook-timestamp',
      timestamp,
      'webhook-signature',
      [...new Set(signatures)].join(' '),
    ],
  };
}
