// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how a configuration names environment variables
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.js';
import { ConfigurationError } from '../../src/config/problems.js';
import { service, writeSettings } from './writing.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hotel-review-dot-env-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function load(dotEnv: string | Buffer | undefined, env: NodeJS.ProcessEnv = {}) {
  const file = join(folder, 'hotel-review.yaml');
  await writeFile(file, writeSettings({ service: { ...service, apiKey: '${KEY}' } }));
  if (dotEnv !== undefined) await writeFile(join(folder, '.env'), dotEnv);
  return loadConfig({ file, env });
}

async function failToLoad(dotEnv: string | Buffer | undefined): Promise<ConfigurationError> {
  const error = await load(dotEnv).catch((reason: unknown) => reason);
  if (error instanceof ConfigurationError) return error;
  throw new Error('expected a ConfigurationError');
}

describe('The file .env beside the configuration', () => {
  it('provides the variables that the environment does not have', async () => {
    const config = await load('# the key\nKEY=\'k # 1\'\n\nexport OTHER="x"\n');
    expect(config.service.apiKey).toBe('k # 1');
  });

  it('does not override the environment', async () => {
    expect((await load('KEY=of-the-file', { KEY: 'of-the-environment' })).service.apiKey).toBe(
      'of-the-environment',
    );
  });

  it('may have CRLF and a byte order mark', async () => {
    expect((await load('\ufeffKEY=k-1\r\nOTHER=2\r\n')).service.apiKey).toBe('k-1');
  });

  it('is optional, and a variable that is missing everywhere is named', async () => {
    expect((await failToLoad(undefined)).problems).toEqual([
      { path: 'service.apiKey', message: 'expected a value in the environment variable KEY, got: nothing' },
    ]);
  });

  it('does not change the environment of the process', async () => {
    const before = { ...process.env };
    await load('KEY=k-1\nHOTEL_REVIEW_OTHER=2');
    expect(process.env).toEqual(before);
  });

  it('is not reported as a literal secret', async () => {
    expect((await load('KEY=k-1')).literalSecrets).toEqual([]);
  });

  it('is never quoted when the configuration rejects a value of it', async () => {
    expect((await failToLoad('KEY=gehéim')).message).not.toContain('geh');
  });

  it('is named when it cannot be read', async () => {
    const path = join(folder, '.env');
    await mkdir(path);
    expect((await failToLoad(undefined)).problems).toEqual([{ path, message: 'cannot be read (EISDIR)' }]);
  });

  it('must be UTF-8, and is not quoted', async () => {
    const error = await failToLoad(Buffer.from('KEY=secret\n', 'utf16le').fill(0xff, 0, 2));
    expect(error.problems).toEqual([
      { path: join(folder, '.env'), message: 'expected a text in UTF-8, got: other bytes' },
    ]);
  });
});
