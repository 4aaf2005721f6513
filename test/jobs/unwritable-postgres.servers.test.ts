import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createDayFolder, day, prepareDay } from '../support/day-folder.js';
import { expectError } from '../support/expectations.js';
import { startStandIn, success } from '../support/http-stand-in.js';
import { csvOf } from '../support/made-bookings.js';
import { patienceMs } from '../support/patience.js';
import { masterIdOnly } from '../support/source-columns.js';
import { startTcpProxy } from '../support/tcp-proxy.js';
import { usePostgres } from '../support/use-servers.js';

const unwritable = /its PostgreSQL is a standby or read-only: name the primary server in the setting ledger/;

describe('a ledger on a PostgreSQL that takes no writes', () => {
  const postgres = usePostgres();

  /** What a user sees of a standby, too: `transaction_read_only` is on there. */
  const makeReadOnly = (url: string, isOn = true) => {
    const name = url.split('/').at(-1) ?? '';
    // From another database: once it is on, connections to this one could not turn it off.
    const other = url.replace(/[^/]*$/, 'postgres');
    return postgres().query(
      other,
      `ALTER DATABASE ${name} SET default_transaction_read_only = ${isOn ? 'on' : 'off'}`,
    );
  };

  async function prepareReadOnly(reviewed: boolean) {
    const url = await postgres().createDatabase();
    const prepared = await prepareDay(
      { bookings: csvOf(5), settings: { ledger: url }, hasWorkers: false },
      async () => success,
    );
    if (reviewed) expect((await prepared.folder.runDay()).exitCode).toBe(0);
    await makeReadOnly(url);
    return { ...prepared, url };
  }

  it.each([
    ['which has no ledger yet', false],
    ['which holds one', true],
  ])('is waited for, %s, as in the middle of a failover; nothing is sent before', async (_, reviewed) => {
    const { folder, standIn, url } = await prepareReadOnly(reviewed);
    const { exitCode, json } = await folder.run(['doctor', '--day', day, '--json']);
    expect(exitCode).toBe(2);
    expect(json).toMatchObject({
      findings: expect.arrayContaining([
        expect.objectContaining({
          part: 'ledger',
          verdict: 'wrong',
          message: expect.stringMatching(unwritable),
        }),
      ]),
    });
    const proxy = await startTcpProxy(postgres().port);
    onTestFinished(() => proxy.stop());
    await folder.configure({ ledger: postgres().overTcp(url, { port: proxy.port }) });
    const sent = standIn.requests.length;
    const running = folder.run(['replay', day, '--reason', 'again', '--json']);
    // Several connections.
    await vi.waitUntil(() => proxy.happened.bytesToClient > 5_000, { timeout: patienceMs });
    expect(standIn.requests).toHaveLength(sent);
    await makeReadOnly(url, false);
    expect((await running).exitCode).toBe(0);
    expect(standIn.requests.length).toBeGreaterThan(sent);
  });

  it('can still be looked at, and written to once that is over', async () => {
    const { folder, url } = await prepareReadOnly(true);
    const { exitCode, json, stderr } = await folder.run(['affected', day, '--json']);
    expect(exitCode).toBe(0);
    expect(json).toMatchObject({ day, state: 'succeeded', affected: null });
    expect(stderr).toMatch(unwritable);
    expect((await folder.run(['status'])).exitCode).toBe(0);
    await makeReadOnly(url, false);
    expect((await folder.run(['replay', day, '--reason', 'again'])).exitCode).toBe(0);
  });

  it('does not matter to a source', async () => {
    const url = await postgres().createDatabase();
    await postgres().query(url, 'CREATE TABLE bookings AS SELECT generate_series(1, 7) AS "ServiceId"');
    await makeReadOnly(url);
    const query = 'SELECT * FROM bookings WHERE :day::text IS NOT NULL';
    const source = { path: undefined, kind: 'sql', url, query, columns: masterIdOnly };
    const { folder } = await prepareDay({ settings: { source } }, async () => success);
    const { exitCode, report } = await folder.runDay().then((result) => ({
      ...result,
      report: result.json as { readonly counts: { readonly delivered: number } },
    }));
    expect(exitCode).toBe(0);
    expect(report.counts.delivered).toBe(7);
  });
});

describe('PostgreSQL behind a pooler', () => {
  it('that refuses our start-up parameters cannot hold the ledger: exit code 2', async () => {
    const url = await startPooler('08P01', 'unsupported startup parameter: statement_timeout');
    const { folder } = await prepareDay({ bookings: csvOf(5), settings: { ledger: url }, hasWorkers: false });
    const message = /needs session pooling: name the server itself in the setting ledger/;
    expectError(await folder.runDay(), { exitCode: 2, class: 'configuration', message });
  });

  it.each([
    ['08P01', 'unsupported startup parameter: application_name', 'needs session pooling'],
    ['42P05', 'prepared statement "s1" already exists', 'needs session pooling'],
    ['08P01', 'query_wait_timeout', "can't be reached (08P01)"],
  ])('that answers a source with %s, %s, is named as the cause', async (code, said, words) => {
    const url = await startPooler(code, said);
    const standIn = await startStandIn();
    onTestFinished(() => standIn.close());
    const source = {
      path: undefined,
      kind: 'sql',
      url,
      query: 'SELECT 1 AS "ServiceId" WHERE :day::text > $$$$',
    };
    const folder = await createDayFolder({ baseUrl: standIn.baseUrl, settings: { source } });
    const { exitCode, json } = await folder.runDay();
    expect(exitCode).toBe(1);
    expect(json).toMatchObject({ error: { message: expect.stringContaining(words) } });
  });
});

/** Answers whoever connects with this error, as poolers do. Returns the address of a database there. */
async function startPooler(code: string, message: string): Promise<string> {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`);
  const head = Buffer.alloc(5, 'E');
  head.writeInt32BE(fields.length + 4, 1);
  const server = createServer((socket) => {
    socket.on('error', () => {}).once('data', () => socket.end(Buffer.concat([head, fields])));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `postgres://hotel@127.0.0.1:${(server.address() as AddressInfo).port}/day`;
}
