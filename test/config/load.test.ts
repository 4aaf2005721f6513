// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how a configuration names environment variables
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.js';
import { ConfigurationError } from '../../src/config/problems.js';
import { hookSecret } from '../support/hook-secrets.js';
import { makeTemporaryFolder } from '../support/temporary-folder.js';
import { service, sftp, writeSettings } from './writing.js';

let folder = '';
beforeEach(() => {
  folder = makeTemporaryFolder();
});

type Settings = Parameters<typeof writeSettings>[0];
type Files = Readonly<Record<string, string | Buffer>>;
const withKey = (apiKey: string) => ({ service: { ...service, apiKey } });

/** The configuration with these settings, or this text, beside these files. */
function load(settings: Settings | string, files: Files = {}, env: NodeJS.ProcessEnv = {}) {
  const text = typeof settings === 'string' ? settings : writeSettings(settings);
  const all: Files = { 'hotel-review.yaml': text.replaceAll('FOLDER', folder), ...files };
  for (const [name, content] of Object.entries(all)) writeFileSync(join(folder, name), content);
  return loadConfig({ file: join(folder, 'hotel-review.yaml'), env });
}

async function problemsOf(loading: Promise<unknown>): Promise<string[]> {
  const error = await loading.catch((reason: unknown) => reason);
  if (!(error instanceof ConfigurationError)) throw new Error('expected a ConfigurationError');
  return error.problems.map(({ path, message }) => `${path}: ${message}`.replaceAll(folder, 'FOLDER'));
}

const utf16 = Buffer.from('KEY=s3cret\n', 'utf16le').fill(0xff, 0, 2);

describe('the configuration file', () => {
  it('may have a byte order mark and CRLF, and relative paths start at its folder', async () => {
    const text = `\ufeff${writeSettings({ timezone: 'Europe/Madrid' }).replaceAll('\n', '\r\n')}`;
    expect(await load(text)).toMatchObject({
      timezone: 'Europe/Madrid',
      ledger: { kind: 'sqlite', path: join(folder, 'data/ledger.db') },
    });
  });

  it('is named if it is missing, cannot be read, or is not UTF-8', async () => {
    const file = join(folder, 'nowhere.yaml');
    expect(await problemsOf(loadConfig({ file, env: {} }))).toEqual([
      'FOLDER/nowhere.yaml: there is no such file; `hotel-review init` writes one, or name another with --config',
    ]);
    expect(await problemsOf(loadConfig({ file: folder, env: {} }))).toEqual([
      'FOLDER: cannot be read (EISDIR)',
    ]);
    expect(await problemsOf(load({}, { 'hotel-review.yaml': utf16 }))).toEqual([
      'FOLDER/hotel-review.yaml: expected a text in UTF-8, got: other bytes',
    ]);
  });
});

describe('the file .env beside the configuration', () => {
  const variable = withKey('${KEY}');

  it('provides the variables that the environment does not have, and changes none of the process', async () => {
    const before = { ...process.env };
    const text = '\ufeff# the key\r\nKEY=\'k # 1\'\r\n\r\nexport OTHER="x"\r\n';
    const config = await load(variable, { '.env': text });
    expect(config).toMatchObject({ service: { apiKey: 'k # 1' }, literalSecrets: [] });
    const given = await load(variable, { '.env': text }, { KEY: 'of-the-environment' });
    expect(given.service.apiKey).toBe('of-the-environment');
    expect(process.env).toEqual(before);
  });

  it('is optional; what is wrong with it or missing is named, and never quoted', async () => {
    expect(await problemsOf(load(variable))).toEqual([
      'service.apiKey: expected a value in the environment variable KEY, got: nothing',
    ]);
    expect(String(await problemsOf(load(variable, { '.env': 'KEY=s3crét' })))).not.toContain('s3cr');
    expect(await problemsOf(load(variable, { '.env': utf16 }))).toEqual([
      'FOLDER/.env: expected a text in UTF-8, got: other bytes',
    ]);
    rmSync(join(folder, '.env'));
    mkdirSync(join(folder, '.env'));
    expect(await problemsOf(load(variable))).toEqual(['FOLDER/.env: cannot be read (EISDIR)']);
  });
});

describe('${file:PATH}', () => {
  const secret = 'k-${NOT_A_VARIABLE}-7';

  it('takes every secret from a file, by an absolute or a relative path, without its line end', async () => {
    const settings = {
      service: { ...service, apiKey: '${file:FOLDER/key}', accountId: '${file:key}' },
      file: { sftp: { ...sftp, password: '${file:./spaced}' } },
      hook: { secret: '${file:hook}' },
      ledger: 'postgres://u:${file:password}@db/review?sslmode=verify-full',
      queue: 'rediss://:${file:password}@cache',
      source: { kind: 'http', url: 'https://h/?d={day}', headers: { Authorization: 'Bearer ${file:key}' } },
    };
    const files = { key: `${secret}\n`, hook: `${hookSecret}\n`, password: 'p-1\n', spaced: ' p 2 \r\n' };
    expect(await load(settings, files)).toMatchObject({
      service: { apiKey: secret, accountId: secret },
      file: { sftp: { password: ' p 2 ' } },
      hook: { secret: hookSecret },
      ledger: { url: 'postgres://u:p-1@db/review?sslmode=verify-full' },
      queue: { url: 'rediss://:p-1@cache' },
      source: { headers: { Authorization: `Bearer ${secret}` } },
      literalSecrets: [],
    });
  });

  it.each([
    ['${file:nowhere}', 'service.apiKey: the file "FOLDER/nowhere" cannot be read (ENOENT)'],
    ['${file:empty}', 'expected a value in the file "FOLDER/empty", got: an empty text'],
    ['${file:bytes}', 'expected a text in UTF-8 in the file "FOLDER/bytes", got: other bytes'],
    ['${file:long}', 'expected a secret in the file "FOLDER/long", got: too much'],
    ['${file:}', 'or ${file:PATH}'],
    ['${file:lines}', 'got: a text from a file'],
  ])('says what is wrong with %s, and quotes none of it', async (apiKey, words) => {
    const long = 's3cret'.repeat(20_000);
    const files = { empty: '\n', bytes: utf16, long, lines: 's3cret\ns3cret' };
    const problems = await problemsOf(load(withKey(apiKey), files));
    expect(problems).toEqual([expect.stringContaining(words)]);
    expect(problems.join()).not.toContain('s3cret');
  });
});

it('the file of an authority must hold a certificate, wherever an address names one, and is not quoted', async () => {
  const problems = await problemsOf(
    load(
      {
        ledger: 'postgres://db.example.com/review?sslrootcert=nowhere.pem',
        queue: { url: 'rediss://cache.example.com', ca: 'none.pem' },
        source: {
          kind: 'sql',
          url: 'postgres://db.example.com/hotel?sslrootcert=ca.pem',
          query: 'SELECT :day',
        },
      },
      { 'ca.pem': 's3cret' },
    ),
  );
  expect(problems).toEqual([
    'ledger: the file of its authority cannot be read (ENOENT)',
    'queue.ca: the file of its authority cannot be read (ENOENT)',
    expect.stringMatching(
      /^source\.url: expected a file of its authority with a certificate in PEM(?!.*s3cret)/,
    ),
  ]);
});

describe('the proxy of the environment', () => {
  it.each([
    [{ HTTPS_PROXY: '' }, {}],
    [{ HTTPS_PROXY: 'http://p:3128' }, { url: 'http://p:3128', direct: [] }],
    [
      { HTTPS_PROXY: 'http://p', https_proxy: 'q:3128', NO_PROXY: 'a, b  c' },
      { url: 'http://q:3128', direct: ['a', 'b', 'c'] },
    ],
    [
      { https_proxy: 'q:3128', no_proxy: 'b', NO_PROXY: 'a' },
      { url: 'http://q:3128', direct: ['b'] },
    ],
  ])('%j is read as %j', async (env, proxy) => {
    expect((await load({}, {}, env)).proxy).toEqual(proxy);
  });

  it.each(['socks5://u:s3cret@p', 'http://u:s3cret%pure@p'])(
    'cannot be %s, which is not quoted',
    async (url) => {
      const problems = await problemsOf(load({}, {}, { HTTPS_PROXY: url }));
      expect(problems).toEqual([
        'HTTPS_PROXY: expected an address such as http://user:p%40ssword@proxy.example.com:3128, got: another text',
      ]);
    },
  );
});
