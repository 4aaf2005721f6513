import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createDayFolder } from '../support/day-folder.js';
import { refusal, type StandInHandler, startStandIn, success } from '../support/http-stand-in.js';

const address = 'ops+exports@example.com';

async function prepare(handler: StandInHandler = () => success) {
  const standIn = await startStandIn(handler);
  onTestFinished(() => standIn.close());
  return { standIn, folder: await createDayFolder({ baseUrl: standIn.baseUrl, hasWorkers: false }) };
}

/** The content of all files of a folder. */
function readAll(path: string): Buffer {
  return Buffer.concat(
    readdirSync(path, { withFileTypes: true }).map((entry) =>
      entry.isDirectory() ? readAll(join(path, entry.name)) : readFileSync(join(path, entry.name)),
    ),
  );
}

it('calls the service once with address and providers, and says what to do next', async () => {
  const { standIn, folder } = await prepare();
  const asked = await folder.run([
    'export',
    'request',
    '--email',
    address,
    '--providers',
    'Bedlink, Room & Co',
  ]);
  expect(asked.exitCode).toBe(0);
  expect(standIn.requests.map(({ method, url }) => [method, new URL(url, standIn.baseUrl).pathname])).toEqual(
    [['GET', '/api/3.0/mappings/ExportMappingsFile']],
  );
  const { searchParams } = new URL(standIn.requests[0]?.url ?? '', standIn.baseUrl);
  expect(Object.fromEntries(searchParams)).toEqual({
    emailId: address,
    providerfamilies: 'Bedlink,Room & Co',
  });
  expect(asked.stdout).toContain(address);
  expect(asked.stdout).toContain('hotel-review export fetch');
});

it('omits the providers when none are given', async () => {
  const { standIn, folder } = await prepare();
  expect((await folder.run(['export', 'request', '--email', address])).exitCode).toBe(0);
  const { searchParams } = new URL(standIn.requests[0]?.url ?? '', standIn.baseUrl);
  expect([...searchParams.keys()]).toEqual(['emailId']);
});

it('stores the address nowhere: neither in the JSON, nor in the ledger, nor in a file', async () => {
  const { folder } = await prepare();
  const asked = await folder.run([
    'export',
    'request',
    '--email',
    address,
    '--providers',
    'Bedlink',
    '--json',
  ]);
  expect(asked.json).toMatchObject({
    requestedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    providers: ['Bedlink'],
  });
  expect(asked.stdout + asked.stderr).not.toContain(address);
  const kept = readAll(folder.path);
  expect(kept.includes('Bedlink')).toBe(true);
  expect(kept.includes(address)).toBe(false);
});

it.each([
  ['is accepted', () => success],
  ['is refused', () => refusal(2025, `no such address: ${address}`)],
  ['fails', () => ({ kind: 'text', status: 500, body: address }) as const],
])('writes the address to no log when the call %s', async (_what, handler) => {
  const { folder } = await prepare(handler);
  const asked = await folder.run([
    ...['export', 'request', '--email', address],
    ...['--json', '--log-level', 'trace', '--stack-trace'],
  ]);
  expect(asked.stdout + asked.stderr).not.toContain('ops+exports');
  expect(asked.stdout + asked.stderr).not.toContain(encodeURIComponent(address));
});

it.each(['nobody', '@agency.example', 'ops@', 'a@b,c@d', 'ops @example.com', 'ops@example.com\u0007'])(
  'requests nothing for an invalid address: %j',
  async (email) => {
    const { standIn, folder } = await prepare();
    const asked = await folder.run(['export', 'request', '--email', email, '--json']);
    expect(asked.exitCode).toBe(2);
    expect(asked.json).toMatchObject({
      error: { class: 'usage', message: expect.stringContaining('--email') },
    });
    expect(asked.stdout).not.toContain(email);
    expect(standIn.requests).toEqual([]);
  },
);

it('makes no call for a list of providers with an empty name', async () => {
  const { standIn, folder } = await prepare();
  const asked = await folder.run(['export', 'request', '--email', address, '--providers', 'Bedlink,,Roomex']);
  expect(asked.exitCode).toBe(2);
  expect(standIn.requests).toEqual([]);
});

it("does not record a refused request, and prints none of the service's message", async () => {
  const { folder } = await prepare(() => refusal(2025, `no such address: ${address}`));
  const asked = await folder.run([
    'export',
    'request',
    '--email',
    address,
    '--providers',
    'Bedlink',
    '--json',
  ]);
  expect(asked.exitCode).toBe(1);
  expect(asked.json).toMatchObject({ error: { class: 'refused' } });
  expect(asked.stdout + asked.stderr).not.toContain(address);
  expect(readAll(folder.path).includes('Bedlink')).toBe(false);
});

it('does not repeat a request of unknown outcome', async () => {
  const { standIn, folder } = await prepare(() => ({ kind: 'drop', when: 'after-reading' }));
  const asked = await folder.run(['export', 'request', '--email', address]);
  expect(asked.exitCode).toBe(1);
  expect(standIn.requests).toHaveLength(1);
});
