// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how a configuration names files of secrets
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.js';
import { service, sftp, writeSettings } from './writing.js';

const secret = 'k-${NOT_A_VARIABLE}-7';
const hookSecret = 'Zm9yLXRoZS1ob29rLW9mLXRoZS1lbmQtb2YtZGF5';

function load(
  settings: Parameters<typeof writeSettings>[0],
  files: Readonly<Record<string, string | Buffer>>,
  env: NodeJS.ProcessEnv = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'secrets-'));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  const file = join(folder, 'hotel-review.yaml');
  writeFileSync(file, writeSettings(settings).replaceAll('FOLDER', folder));
  return loadConfig({ file, env });
}

describe('${file:PATH}', () => {
  it('takes every secret from a file, by an absolute or a relative path, without its line end', async () => {
    const config = await load(
      {
        service: { ...service, apiKey: '${file:FOLDER/key}', accountId: '${file:key}' },
        file: { sftp: { ...sftp, password: '${file:./key}' } },
        hook: { secret: '${file:hook}' },
        ledger: 'postgres://u:${file:password}@db/review?sslmode=verify-full',
        queue: 'rediss://:${file:password}@cache',
        source: { kind: 'http', url: 'https://h/?d={day}', headers: { Authorization: 'Bearer ${file:key}' } },
      },
      { key: `${secret}\n`, hook: `${hookSecret}\n`, password: 'p-1\n' },
    );
    expect(config).toMatchObject({
      service: { apiKey: secret, accountId: secret },
      file: { sftp: { password: secret } },
      hook: { secret: hookSecret },
      ledger: { url: 'postgres://u:p-1@db/review?sslmode=verify-full' },
      queue: { url: 'rediss://:p-1@cache' },
      source: { headers: { Authorization: `Bearer ${secret}` } },
      literalSecrets: [],
    });
  });

  it.each([
    ['is missing', '${file:nowhere}', /service\.apiKey: the file ".*\/nowhere" cannot be read \(ENOENT\)/],
    ['is empty', '${file:empty}', /expected a value in the file ".*\/empty", got: an empty text/],
    ['is not text', '${file:bytes}', /expected a text in UTF-8 in the file ".*\/bytes", got: other bytes/],
    ['is too long', '${file:long}', /expected a secret in the file ".*\/long", got: too much/],
    ['has no name', '${file:}', /expected \$\{NAME\} .* or \$\{file:PATH\}/],
    ['holds no header', '${file:lines}', /expected a text of ASCII characters.*, got: a text from a file/],
  ])('says what is wrong if the file %s, and quotes none of it', async (_, apiKey, words) => {
    const files = {
      empty: '\n',
      bytes: Buffer.from([0xff, 0xfe, 0x73]),
      long: 's3cret'.repeat(20_000),
      lines: 's3cret\ns3cret',
    };
    const failure = await load({ service: { ...service, apiKey } }, files).catch(String);
    expect(failure).toMatch(words);
    expect(failure).not.toContain('s3cret');
  });
});

describe('the proxy of the environment', () => {
  it.each([
    [{}, {}],
    [{ HTTPS_PROXY: '' }, {}],
    [{ HTTPS_PROXY: 'http://p:3128' }, { url: 'http://p:3128', direct: [] }],
    [
      { HTTPS_PROXY: 'http://p', https_proxy: 'q:3128', NO_PROXY: 'a, b  c' },
      { url: 'http://q:3128', direct: ['a', 'b', 'c'] },
    ],
  ])('%j is read as %j', async (env, proxy) => {
    expect((await load({}, {}, env)).proxy).toEqual(proxy);
  });

  it.each(['socks5://u:s3cret@p', 'http://u:s3cret%pure@p'])(
    'must be one that can be used, unlike %s, and is not quoted',
    async (HTTPS_PROXY) => {
      const failure = await load({}, {}, { HTTPS_PROXY }).catch(String);
      expect(failure).toContain(
        'HTTPS_PROXY: expected an address such as http://user:p%40ssword@proxy.example.com:3128, got: another text',
      );
      expect(failure).not.toContain('s3cret');
    },
  );
});
