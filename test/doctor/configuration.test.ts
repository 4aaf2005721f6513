import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readConfiguration } from '../../src/checks/doctor/configuration.js';
import { loadConfig } from '../../src/config/load.js';
import { makeTemporaryFolder } from './temporary-folder.js';

const good = `
service: { baseUrl: "https://service.agency.example/api/3.0", apiKey: "\${KEY}", accountId: acme }
source: { kind: csv, path: "bookings-{day}.csv" }
`;

function write(text: string): string {
  const file = join(makeTemporaryFolder(), 'hotel-review.yaml');
  writeFileSync(file, text);
  return file;
}

function read(file: string, env: NodeJS.ProcessEnv = { KEY: 'k' }) {
  return readConfiguration(file, () => loadConfig({ file, env }));
}

it('reports that the configuration is understood, and how bookings are delivered', async () => {
  const { config, findings } = await read(write(good));
  expect(config?.delivery).toBe('body');
  expect(findings).toEqual([
    { part: 'configuration', verdict: 'ok', message: expect.stringMatching(/is understood; .* by body$/) },
  ]);
});

it('warns about each secret in the file, by its path and without its value', async () => {
  const sftp = `file: { sftp: { host: h, username: u, password: s3cret-a, hostKey: "SHA256:${'B'.repeat(43)}" } }`;
  const { config, findings } = await read(write(`${good.replace(/"\$.*?"/, 's3cret-b')}${sftp}\n`));
  expect(config).toBeDefined();
  expect(findings.slice(1)).toEqual(
    ['service.apiKey', 'file.sftp.password'].map((path) => ({
      part: 'configuration',
      verdict: 'warning',
      message: expect.stringMatching(new RegExp(`^${path} holds a secret`)),
      advice: expect.stringContaining('environment'),
    })),
  );
  expect(JSON.stringify(findings)).not.toContain('s3cret');
});

it('reports remaining placeholders of init, but not those that were filled in', async () => {
  const sftp = `file: { sftp: { host: sftp.example.com, username: change-me, password: "\${KEY}", hostKey: "SHA256:${'A'.repeat(43)}" } }`;
  const filled = await read(write(good));
  expect(filled.findings.map(({ verdict }) => verdict)).toEqual(['ok']);
  const { findings } = await read(write(`${good.replace('agency.example', 'example.com')}${sftp}\n`), {
    KEY: 'change-me',
  });
  expect(findings.slice(1).map(({ verdict, message }) => `${verdict} ${message.split(' ')[0]}`)).toEqual([
    'wrong service.baseUrl',
    'wrong service.apiKey',
    'wrong file.sftp.host',
    'wrong file.sftp.username',
    'wrong file.sftp.password',
    'wrong file.sftp.hostKey',
  ]);
});

it('reports each mistake as a separate finding, and that other checks were skipped', async () => {
  const { config, findings, wrongSettings } = await read(write(`${good}timezone: Nowhere\nbdy: 1\n`), {});
  expect(config).toBeUndefined();
  expect(findings.map(({ verdict }) => verdict)).toEqual(['wrong', 'wrong', 'wrong', 'warning']);
  const messages = findings.map(({ message }) => message).join('\n');
  expect(messages).toContain('service.apiKey: expected a value in the environment variable KEY');
  expect(messages).toContain('timezone: expected a time zone');
  expect(messages).toContain('bdy: unknown setting; did you mean body?');
  expect(wrongSettings).toEqual(expect.arrayContaining(['service.apiKey', 'timezone', 'bdy']));
});

it('reports a missing file', async () => {
  const file = join(makeTemporaryFolder(), 'none.yaml');
  expect((await read(file)).findings[0]).toMatchObject({
    verdict: 'wrong',
    message: expect.stringContaining('there is no such file'),
  });
});

it('reports any other failure as a finding, without quoting it', async () => {
  const { findings } = await readConfiguration('x.yaml', () =>
    Promise.reject(new TypeError('quotes s3cret')),
  );
  expect(findings[0]).toEqual({
    part: 'configuration',
    verdict: 'wrong',
    message: 'unexpected TypeError',
  });
});
