import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { messageWith, open, send } from '../../notify/channels/channel-kit.js';
import { startStandIn } from '../../support/http-stand-in.js';
import { makeTemporaryFolder } from '../../support/temporary-folder.js';
import { readBlocks } from './pages.js';

const blocksOf = (language: string) =>
  readBlocks('docs/first-week.md').flatMap((block) => (block.language === language ? [block.text] : []));

const secret = `whsec_${Buffer.from('thirty-two bytes of a secret key').toString('base64')}`;

describe('docs/first-week.md', () => {
  it('shows an example of each kind of channel', () => {
    const kinds = blocksOf('yaml').flatMap((block) =>
      [...block.matchAll(/- kind: (\w+)/g)].map(([, kind]) => kind),
    );
    expect(kinds.sort()).toEqual(['email', 'pagerduty', 'slack', 'teams', 'webhook']);
  });

  it('shows a line for cron that tells of each bad night, and not of one that another process works on', () => {
    const folder = makeTemporaryFolder();
    mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
    const [crontab = ''] = blocksOf('crontab');
    const line = /^30 (?:\S+ ){4}(.*)$/m.exec(crontab)?.[1] ?? '';
    const start = (code: number) => {
      const command = `#!/bin/sh\n[ "$*" = "run --quiet" ] && exit ${code}\n`;
      writeFileSync(join(folder, 'node_modules/.bin/hotel-review'), command, { mode: 0o700 });
      const { status, stdout, stderr } = spawnSync('sh', ['-c', line.replace('/srv/review', folder)], {
        encoding: 'utf8',
      });
      return [status, `${stdout}${stderr}`];
    };
    for (const code of [1, 2, 3, 5]) expect(start(code)).toEqual([code, `review: exit ${code}\n`]);
    for (const code of [0, 4]) expect(start(code)).toEqual([0, '']);
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
});
