import { Webhook } from 'standardwebhooks';
import { onTestFinished } from 'vitest';
import { type StandInAnswer, startStandIn, toHeaders } from './http-stand-in.js';

/** The body of a notification, as documented. */
export interface ReceivedNotice {
  readonly id: string;
  readonly event: string;
  readonly stage: string;
  readonly severity: string;
  readonly day: string | null;
  readonly title: string;
  readonly text: string;
  readonly counts: Readonly<Record<string, number | null>>;
}

export interface WebhookReceiver {
  /** As an item of `notify`. */
  readonly channel: { readonly kind: 'webhook'; readonly url: string; readonly secret: string };
  /** What it does with messages from now on. */
  answer: StandInAnswer;
  /** Every message that arrived. */
  readonly arrived: readonly ReceivedNotice[];
  readonly accepted: readonly ReceivedNotice[];
  /** What it accepted since the last time, as `event day stage`, without a stage of `raised`. */
  takeNew(): readonly string[];
}

export const accepting: StandInAnswer = { kind: 'text', status: 204, body: '' };
export const unavailable: StandInAnswer = { kind: 'text', status: 503, body: 'try later' };
const secret = `whsec_${Buffer.from('notify-secret-of-the-tests-123').toString('base64')}`;

/** A receiver of webhooks on a free port until the test ends. It answers with 599 unless the library verifies the signature. */
export async function startWebhookReceiver(answer = accepting): Promise<WebhookReceiver> {
  const accepted: ReceivedNotice[] = [];
  let taken = 0;
  const server = await startStandIn(async ({ rawHeaders, readBody }) => {
    const body = String(await readBody());
    const notice = new Webhook(secret).verify(body, toHeaders(rawHeaders)) as ReceivedNotice;
    receiver.arrived.push(notice);
    if (receiver.answer === accepting) accepted.push(notice);
    return receiver.answer;
  });
  onTestFinished(() => server.close());
  const receiver = {
    channel: { kind: 'webhook', url: `http://127.0.0.1:${server.port}/hook`, secret } as const,
    answer,
    arrived: [] as ReceivedNotice[],
    accepted,
    takeNew() {
      const fresh = accepted.slice(taken);
      taken = accepted.length;
      return fresh.map(({ event, stage, day }) =>
        [event, day, stage === 'raised' ? undefined : stage].filter(Boolean).join(' '),
      );
    },
  };
  return receiver;
}
