// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how a configuration names environment variables
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.js';
import { ConfigurationError } from '../../src/config/problems.js';
import { service, writeSettings } from './writing.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hotel-review-config-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function loadBytes(name: string, bytes: string | Buffer, env: NodeJS.ProcessEnv = {}) {
  const file = join(folder, name);
  await writeFile(file, bytes);
  return loadConfig({ file, env });
}

describe('the configuration file', () => {
  it('is read with the given environment, and relative paths start at its folder', async () => {
    const text = writeSettings({ service: { ...service, apiKey: '${KEY}' } });
    const config = await loadBytes('good.yaml', text, { KEY: 'k-7' });
    expect(config.service.apiKey).toBe('k-7');
    expect(config.ledger).toEqual({ kind: 'sqlite', path: join(folder, 'data/ledger.db') });
  });

  it('may have a byte order mark and CRLF', async () => {
    const config = await loadBytes(
      'windows.yaml',
      `\ufeff${writeSettings({ timezone: 'Europe/Madrid' }).replaceAll('\n', '\r\n')}`,
    );
    expect(config.timezone).toBe('Europe/Madrid');
  });

  it('is named if it is missing', async () => {
    const file = join(folder, 'nowhere.yaml');
    const error = await loadConfig({ file, env: {} }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toHaveProperty('problems', [
      {
        path: file,
        message: 'there is no such file; `hotel-review init` writes one, or name another with --config',
      },
    ]);
  });

  it('is named when it cannot be read', async () => {
    await expect(loadConfig({ file: folder, env: {} })).rejects.toThrow(`${folder}: cannot be read (EISDIR)`);
  });

  it('must be UTF-8', async () => {
    await expect(
      loadBytes('utf16.yaml', Buffer.from('timezone: UTC', 'utf16le').fill(0xff, 0, 2)),
    ).rejects.toThrow('utf16.yaml: expected a text in UTF-8, got: other bytes');
  });
});
