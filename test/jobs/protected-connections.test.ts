import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { captureIo } from '../support/command-io.js';
import { makeTemporaryFolder } from '../support/temporary-folder.js';

const secret = 's3cret-pa55word';
/** The built command, because it looks for files beside it. */
const builtMain = new URL('../../dist/jobs/main.js', import.meta.url).href;

const unprotected: readonly [object, NodeJS.ProcessEnv, RegExp][] = [
  [{ ledger: `postgres://u:${secret}@db.example.com/review` }, {}, /ledger: must use TLS/],
  [
    { ledger: `postgres://u:${secret}@db.example.com/review?ssl=no-verify` },
    {},
    /ledger: must verify the certificate/,
  ],
  [{ queue: `redis://:${secret}@cache.example.com` }, {}, /queue: must use TLS/],
  [
    { source: { kind: 'sql', url: `mysql://u:${secret}@db.example.com/hotel`, query: 'SELECT :day' } },
    {},
    /source\.url: must use TLS/,
  ],
  [
    {},
    { NODE_TLS_REJECT_UNAUTHORIZED: '0' },
    /NODE_TLS_REJECT_UNAUTHORIZED=0 .*certificates; unset it, .*NODE_EXTRA_CA_CERTS/,
  ],
];

it('no command connects where a password could be read on the way: each ends with exit 2, and says why', async () => {
  const folder = makeTemporaryFolder();
  const config = join(folder, 'hotel-review.yaml');
  const service = { baseUrl: 'https://127.0.0.1:1/api/3.0', apiKey: secret, accountId: 'a' };
  const { main } = (await import(builtMain)) as typeof import('../../jobs/main.js');
  for (const [settings, env, words] of unprotected) {
    writeFileSync(config, stringify({ service, source: { kind: 'csv', path: '{day}.csv' }, ...settings }));
    for (const name of ['run', 'status', 'work', 'serve', 'doctor', 'brands']) {
      const { io, stdout, stderr } = captureIo({ cwd: folder, env });
      expect([name, await main([name, '--config', config], io)]).toEqual([name, 2]);
      const text = `${stdout.text()}${stderr.text()}`.replaceAll(/\s+/g, ' ');
      expect(text).toMatch(words);
      expect(text).not.toContain(secret);
    }
  }
});
