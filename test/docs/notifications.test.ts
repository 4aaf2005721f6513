// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how a configuration names environment variables
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { messageWith, open, send } from '../channels/channel-kit.js';
import { parse } from '../config/writing.js';
import { projectFile } from '../support/compose-file.js';
import { startStandIn } from '../support/http-stand-in.js';

const page = projectFile('docs/notifications.md');
const blocksOf = (language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, block = '']) => block,
  );

const address = 'https://hooks.example.com/1';
const secret = `whsec_${Buffer.from('thirty-two bytes of a secret key').toString('base64')}`;
const env = {
  HOTEL_REVIEW_SLACK_URL: address,
  HOTEL_REVIEW_TEAMS_URL: address,
  HOTEL_REVIEW_SMTP_PASSWORD: 'p-1',
  HOTEL_REVIEW_PAGERDUTY_KEY: 'k-1',
  HOTEL_REVIEW_NOTIFY_SECRET: secret,
  HOTEL_REVIEW_HEARTBEAT_URL: address,
};

describe('docs/notifications.md', () => {
  it.each(blocksOf('yaml').map((block) => [block]))('shows valid settings without a secret: %s', (block) => {
    const config = parse(parseYaml(block), env);
    expect(config.notify.length > 0 || 'deadline' in config || 'heartbeat' in config).toBe(true);
    expect(config.literalSecrets.filter((setting) => /^(?:notify|heartbeat)/.test(setting))).toEqual([]);
  });

  it('shows an example of each kind', () => {
    const kinds = blocksOf('yaml').flatMap((block) =>
      parse(parseYaml(block), env).notify.map(({ kind }) => kind),
    );
    expect([...new Set(kinds)].sort()).toEqual(['email', 'pagerduty', 'slack', 'teams', 'webhook']);
  });

  it('shows the body of a webhook, and code that distinguishes a genuine call from others', async () => {
    const receiver = await startStandIn();
    onTestFinished(() => receiver.close());
    const channel = await open(
      { kind: 'webhook', url: `http://127.0.0.1:${receiver.port}/`, secret },
      { clock: Date.now },
    );
    await send(channel, messageWith());
    const [request] = receiver.requests;
    const { rawHeaders = [], body = Buffer.alloc(0) } = request ?? {};
    const headers = Object.fromEntries(
      rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name, rawHeaders[at + 1] ?? '']] : [])),
    );

    const [example = ''] = blocksOf('json');
    expect(Object.keys(JSON.parse(example))).toEqual(Object.keys(JSON.parse(String(body))));

    const [code = ''] = blocksOf('js');
    const { isGenuine } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
    expect(isGenuine(headers, body, secret)).toBe(true);
    expect(isGenuine(headers, Buffer.from(`${body} `), secret)).toBe(false);
    expect(isGenuine({ ...headers, 'webhook-id': 'msg_2' }, body, secret)).toBe(false);
    expect(isGenuine({ ...headers, 'webhook-timestamp': '1' }, body, secret)).toBe(false);
    expect(isGenuine(headers, body, secret.replace(/^whsec_.../, 'whsec_abc'))).toBe(false);
  });

  it('is linked from the README', () => {
    expect(projectFile('README.md')).toContain('(docs/notifications.md)');
  });
});
