import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { failureOf } from './day-table.js';

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

it.each([
  ['08P01', 'unsupported startup parameter: application_name', 'needs session pooling', 'unsuited'],
  ['42P05', 'prepared statement "s1" already exists', 'needs session pooling', 'unsuited'],
  ['08P01', 'query_wait_timeout', "can't be reached (08P01)", 'passing'],
  ['53300', 'too many clients already', "can't be reached (53300)", 'passing'],
  ['57014', 'canceling statement due to user request', 'was cancelled on the server (57014)', 'passing'],
  ['42501', 'permission denied for table', 'permission denied (42501)', 'refused'],
])('a server or pooler that answers with %s, %s, is named as the cause', async (code, said, words, peer) => {
  const url = await startPooler(code, said);
  const fault = await failureOf({ url, query: 'SELECT 1 AS "ServiceId" WHERE :day::text IS NOT NULL' });
  expect(fault).toMatchObject({ message: expect.stringContaining(words), peer });
});
