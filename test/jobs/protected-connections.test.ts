import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { captureIo } from '../support/command-io.js';

/** An address of this machine that other machines reach, too. */
const ownAddress = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === 'IPv4' && !one.internal)?.address;
const secret = 's3cret-pa55word';
/** The built command, because it looks for files beside it. */
const builtMain = new URL('../../dist/jobs/main.js', import.meta.url).href;

/** A server that answers in place of the real one, and records what is sent. */
async function listen() {
  const received: Buffer[] = [];
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.on('error', () => {}).on('data', (chunk) => received.push(chunk));
    // For the Redis client, every command succeeds.
    socket.on('data', () => socket.write('+OK\r\n'));
  });
  server.listen(0, ownAddress);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as { readonly port: number };
  return {
    host: `${ownAddress}:${port}`,
    read: () => Buffer.concat(received).toString('latin1'),
    count: () => connections,
  };
}

async function runWith(settings: object, env: NodeJS.ProcessEnv = {}, argv: readonly string[] = ['doctor']) {
  const folder = mkdtempSync(join(tmpdir(), 'protected-'));
  const config = join(folder, 'hotel-review.yaml');
  const service = { baseUrl: 'https://127.0.0.1:1/api/3.0', apiKey: secret, accountId: 'a' };
  const source = { kind: 'csv', path: '{day}.csv' };
  writeFileSync(config, stringify({ service, source, ...settings }));
  const { io, stdout, stderr } = captureIo({ cwd: folder, env });
  const { main } = (await import(builtMain)) as typeof import('../../jobs/main.js');
  const code = await main([...argv, '--config', config], io);
  return { code, text: `${stdout.text()}${stderr.text()}`.replaceAll(/\s+/g, ' ') };
}

describe('a database or Redis on another machine', () => {
  it.skipIf(ownAddress === undefined)('does not get the password in plain text', async () => {
    const other = await listen();
    const { code, text } = await runWith({ queue: `redis://:${secret}@${other.host}` });
    expect(other.read()).toBe('');
    expect(other.count()).toBe(0);
    expect(code).toBe(2);
    expect(text).toContain('queue: must use TLS');
    expect(text).toContain('write queue: { url: …, plaintext: allowed }');
    expect(text).not.toContain(secret);
  });

  it.skipIf(ownAddress === undefined)('gets it if the configuration allows this', async () => {
    const other = await listen();
    await runWith({ queue: { url: `redis://:${secret}@${other.host}`, plaintext: 'allowed' } });
    expect(other.read()).toContain(secret);
  });

  it.each([
    ['ledger', { ledger: `postgres://u:${secret}@db.example.com/review` }],
    ['ledger', { ledger: `postgres://u:${secret}@db.example.com/review?ssl=no-verify` }],
    ['ledger', { ledger: `postgres://u:${secret}@db.example.com/review?ssl=0` }],
    [
      'source.url',
      { source: { kind: 'sql', url: `mysql://u:${secret}@db.example.com/hotel`, query: 'SELECT :day' } },
    ],
  ])('ends every command with exit 2: %s', async (setting, settings) => {
    for (const argv of [['run'], ['status'], ['work'], ['serve'], ['doctor']]) {
      const { code, text } = await runWith(settings, {}, argv);
      expect({ argv, code }).toEqual({ argv, code: 2 });
      expect(text).toMatch(new RegExp(`${setting}: must (?:use TLS|verify the certificate)`));
      expect(text).not.toContain(secret);
    }
  });
});

describe('a certificate authority', () => {
  it('must be a file that holds a certificate', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'authority-'));
    writeFileSync(join(folder, 'ca.pem'), secret);
    const settings = {
      ledger: `postgres://db.example.com/review?sslrootcert=${join(folder, 'nowhere.pem')}`,
      source: {
        kind: 'sql',
        url: `postgres://db.example.com/hotel?sslrootcert=${join(folder, 'ca.pem')}`,
        query: 'SELECT :day',
      },
    };
    const { code, text } = await runWith(settings, {}, ['status']);
    expect(code).toBe(2);
    expect(text).toContain('ledger: the file of its authority cannot be read (ENOENT)');
    expect(text).toContain('source.url: expected a file of its authority with a certificate in PEM');
    expect(text).not.toContain(secret);
  });
});

describe('NODE_TLS_REJECT_UNAUTHORIZED=0', () => {
  it.each([['run'], ['status'], ['serve'], ['work'], ['doctor'], ['brands']])(
    'is refused by %s',
    async (name) => {
      const { code, text } = await runWith({}, { NODE_TLS_REJECT_UNAUTHORIZED: '0' }, [name]);
      expect(code).toBe(2);
      expect(text).toMatch(/NODE_TLS_REJECT_UNAUTHORIZED=0 .*NODE_EXTRA_CA_CERTS/);
    },
  );
});
