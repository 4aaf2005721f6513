import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Message } from '../../../src/notify/channel.js';
import { renderPagerDutyEvent } from '../../../src/notify/channels/pagerduty.js';
import { renderSlackMessage } from '../../../src/notify/channels/slack.js';
import { renderTeamsMessage } from '../../../src/notify/channels/teams.js';
import { startStandIn } from '../../support/http-stand-in.js';
import { messageWith, open, send } from './channel-kit.js';

/** What the receiver of a channel got. */
async function deliver(settings: object, message: Message): Promise<Record<string, unknown>> {
  const receiver = await startStandIn();
  onTestFinished(() => receiver.close());
  await send(await open({ url: `http://127.0.0.1:${receiver.port}/`, ...settings }), message);
  return JSON.parse(String(receiver.requests[0]?.body));
}

const hostile = messageWith({
  title: 'Silent: <!channel> & <https://evil.example|Hotelbeds> *x* \u001b[2J\u202e',
  text: '- [Click](https://evil.example)\n1. _x_ \\ \u0007\n+ <@U1>',
});

const characters = fc.constantFrom('<', '&', '>', '*', '\n', '日', '🏨', '\\', '_', 'x');
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  // As long as what the receivers accept, and longer.
  fc
    .tuple(fc.string({ unit: characters, minLength: 1, maxLength: 30 }), fc.integer({ min: 1, max: 2_000 }))
    .map(([piece, times]) => piece.repeat(times)),
);
const anyMessage = fc
  .record({ title: anyText, text: anyText })
  .map(({ title, text }) => messageWith({ title: title.toWellFormed(), text: text.toWellFormed() }));

const day = 'https://review.example.com/days/2026-11-20';
it.each<[string, (message: Message) => object, object]>([
  [
    'Slack',
    renderSlackMessage,
    { blocks: [{}, {}, {}, { type: 'actions', elements: [{ type: 'button', url: day }] }] },
  ],
  [
    'Teams',
    renderTeamsMessage,
    { attachments: [{ content: { actions: [{ type: 'Action.OpenUrl', url: day }] } }] },
  ],
  [
    'PagerDuty',
    (message: Message) => renderPagerDutyEvent(message, 'k'),
    { routing_key: 'k', client_url: day, links: [{ href: day }] },
  ],
])('%s gets a link to the page', (_, render, link) => {
  expect(render(messageWith())).toMatchObject(link);
  const { url: _url, ...bare } = messageWith();
  expect(JSON.stringify(render(bare))).not.toContain('review.example.com');
});

describe('Slack', () => {
  const slack = { kind: 'slack' };

  it('gets no link, mention or control character from a name', async () => {
    const received = JSON.stringify(await deliver(slack, hostile));
    expect(received).not.toMatch(/<|>/);
    expect(received).toContain(
      '&lt;\u2060!channel&gt; &amp; &lt;\u2060https:\u2060//evil.example|Hotelbeds&gt;',
    );
    expect(received).not.toContain('"type":"mrkdwn"');
    expect(received).toContain('&lt;\u2060@\u2060U1&gt;');
    // Written as text, in JSON with two backslashes.
    expect(received).toContain('\\\\u001b[2J\\\\u202e');
  });

  it('gets no more than it accepts, whatever the texts are', () => {
    fc.assert(
      fc.property(anyMessage, (message) => {
        const { text, blocks } = renderSlackMessage(message) as {
          readonly text: string;
          readonly blocks: readonly { readonly type: string; readonly text?: { readonly text: string } }[];
        };
        const texts = [text, ...blocks.flatMap((block) => block.text?.text ?? [])];
        expect(text.length).toBeLessThanOrEqual(4_000);
        for (const { type, text } of blocks)
          if (type === 'header') expect(text?.text.length).toBeLessThanOrEqual(150);
        for (const one of texts.slice(1)) expect(one.length).toBeLessThanOrEqual(3_000);
        for (const one of texts) {
          expect(one).not.toMatch(/[<>]/);
          expect(one.replace(/&(?:amp|lt|gt);/g, '')).not.toContain('&');
          expect(one.isWellFormed()).toBe(true);
        }
      }),
    );
  });
});

describe('Microsoft Teams', () => {
  const teams = { kind: 'teams' };
  interface Card {
    readonly attachments: readonly {
      readonly contentType: string;
      readonly content: {
        readonly type: string;
        readonly body: readonly { readonly type: string; readonly text: string; readonly color?: string }[];
        readonly actions?: readonly object[];
      };
    }[];
  }
  const readCard = (received: object) => {
    const [attachment] = (received as Card).attachments;
    if (!attachment) throw new Error('expected an attachment');
    return attachment;
  };

  it('gets no link, emphasis or list from a name', async () => {
    const { content } = readCard(await deliver(teams, hostile));
    expect(content.body.map(({ text }) => text).slice(0, 4)).toEqual([
      'Silent: <\u2060!channel> & <\u2060https:\u2060//evil.example\\|Hotelbeds> \\*x\\* \\\\u001b\\[2J\\\\u202e',
      '\\- \\[Click\\]\u2060(https:\u2060//evil.example)',
      '1\\. \\_x\\_ \\\\ \\\\u0007',
      '\\+ <\u2060@\u2060U1>',
    ]);
  });

  it('gets no more than 28 kB, whatever the texts are', () => {
    fc.assert(
      fc.property(anyMessage, (message) => {
        expect(Buffer.byteLength(JSON.stringify(renderTeamsMessage(message)))).toBeLessThan(28_000);
      }),
    );
  });
});

describe('PagerDuty', () => {
  const pagerduty = { kind: 'pagerduty', routingKey: 'R0123456789abcdefghijklmnopqrstu' };

  it('gets no link or mention from a name, nor does whatever it passes texts on to', async () => {
    const { payload } = (await deliver(pagerduty, hostile)) as {
      readonly payload: { readonly summary: string; readonly custom_details: { readonly text: string } };
    };
    expect(payload.summary).toBe(
      'Silent: <\u2060!channel> & <\u2060https:\u2060//evil.example|Hotelbeds> *x* \\u001b[2J\\u202e',
    );
    expect(payload.custom_details.text).toBe(
      '- [Click]\u2060(https:\u2060//evil.example)\n1. _x_ \\ \\u0007\n+ <\u2060@\u2060U1>',
    );
  });

  it('gets a reminder under the same key, and keys that are not too long', () => {
    const keyOf = (changes: Partial<Message>) =>
      (renderPagerDutyEvent(messageWith(changes), 'k') as { readonly dedup_key: string }).dedup_key;
    expect(keyOf({ stage: 'reminder' })).toBe(keyOf({}));
    const long = 'x'.repeat(300);
    expect(keyOf({ incident: long }).length).toBeLessThanOrEqual(255);
    expect(keyOf({ incident: long })).toBe(keyOf({ incident: long, stage: 'recovered' }));
    expect(keyOf({ incident: long })).not.toBe(keyOf({ incident: `${long}x` }));
  });

  it('gets no more than it accepts, whatever the texts are', () => {
    fc.assert(
      fc.property(anyMessage, (message) => {
        const event = renderPagerDutyEvent(message, 'k') as {
          readonly payload: { readonly summary: string };
        };
        expect(event.payload.summary.length).toBeLessThanOrEqual(1_024);
        expect(Buffer.byteLength(JSON.stringify(event))).toBeLessThan(512_000);
      }),
    );
  });
});
