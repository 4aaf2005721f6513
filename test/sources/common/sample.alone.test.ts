import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it, onTestFinished } from 'vitest';
import {
  columns,
  day,
  describeSampleContract,
  guest,
  type SampleDriver,
  secret,
  settingsOf,
  takeSample,
} from '../../contracts/sample.js';
import { bucketName, toVariables, useS3Server } from '../../support/s3-server.js';
import { startTcpProxy } from '../../support/tcp-proxy.js';
import { makeTemporaryFolder } from '../../support/temporary-folder.js';
import { canCountDescriptors, countDescriptors } from '../files/open-descriptors.js';
import { sendJson, useBookingsApi } from '../http/bookings-api.js';
import { writeModule } from '../module/module-folder.js';

const recordsOf = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ hotel: 7 + index, guest }));
const csvOf = (count: number) =>
  `hotel;guest\n${recordsOf(count)
    .map(({ hotel }) => `${hotel};${guest}\n`)
    .join('')}`;
const ndjsonOf = (count: number) =>
  recordsOf(count)
    .map((record) => `${JSON.stringify(record)}\n`)
    .join('');

function createFileDriver(
  kind: 'csv' | 'ndjson',
  write: (count: number) => string | Uint8Array,
): SampleDriver {
  const lay = (content?: string | Uint8Array) => {
    const root = makeTemporaryFolder();
    if (content !== undefined) writeFileSync(join(root, `${day.iso}.txt`), content);
    const delimiter = kind === 'csv' ? { delimiter: ';' } : {};
    return { root, settings: settingsOf({ kind, path: join(root, '{day}.txt'), columns, ...delimiter }) };
  };
  const layBroken = async (content?: string | Uint8Array) => lay(content).settings;
  return {
    async place(records) {
      const { root, settings } = lay(write(records));
      return { settings, ...(canCountDescriptors && { held: () => countDescriptors(root) }) };
    },
    broken: {
      'no file': ['missing', () => layBroken()],
      'half a gzip': ['truncated', () => layBroken(gzipSync(write(9)).subarray(0, 30))],
    },
  };
}

describeSampleContract('a CSV file', createFileDriver('csv', csvOf));
describeSampleContract(
  'an NDJSON file in gzip',
  createFileDriver('ndjson', (count) => gzipSync(ndjsonOf(count))),
);

const apiAt = (origin: string) =>
  settingsOf({
    ...{
      kind: 'http',
      url: `${origin}/b?day={day}`,
      headers: { Authorization: `Bearer ${secret}` },
      columns,
    },
    ...{ records: 'data.list', pagination: { kind: 'page', parameter: 'page' } },
  });
const answer = async (status: number, body: object) => {
  const api = await useBookingsApi((_, response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
  );
  return apiAt(api.origin);
};
const pageSize = 600;

describeSampleContract('an API', {
  async place(records) {
    const all = recordsOf(records);
    let sent = 0;
    const api = await useBookingsApi(({ url, headers }, response) => {
      const from = (Number(url.searchParams.get('page')) - 1) * pageSize;
      const isAsked = headers.authorization === `Bearer ${secret}` && url.searchParams.get('day') === day.iso;
      const list = isAsked ? all.slice(from, from + pageSize) : [];
      sent += list.length;
      sendJson(response, { data: { list } });
    });
    return { settings: apiAt(api.origin), held: () => api.open(), taken: () => sent };
  },
  broken: {
    'no list': ['unreadable', () => answer(200, { data: guest })],
    'a refusal': ['login-refused', () => answer(401, { message: guest }), 'refused'],
    'no server': ['unreadable', async () => apiAt('http://127.0.0.1:1'), 'passing'],
    'a wrong address': ['missing', () => answer(404, { message: guest })],
  },
  async placeSilent() {
    const api = await useBookingsApi(() => {});
    return { settings: apiAt(api.origin), held: () => api.open(), asked: () => api.requests.length > 0 };
  },
});

const moduleOf = async (code: string) => settingsOf({ kind: 'module', path: writeModule(code), columns });
let shelves = 0;

describeSampleContract('a module', {
  async place(records) {
    shelves += 1;
    const shelf = { given: 0, open: 0 };
    const name = `sampled-${shelves}`;
    Object.assign(globalThis, { [name]: shelf });
    onTestFinished(() => void Reflect.deleteProperty(globalThis, name));
    const settings = await moduleOf(`export async function* bookings(day) {
      const shelf = globalThis['${name}'];
      shelf.open += 1;
      try {
        for (; day.iso === '${day.iso}' && shelf.given < ${records}; shelf.given += 1)
          yield { hotel: BigInt(7 + shelf.given), guest: '${guest}' };
      } finally { shelf.open -= 1; }
    }`);
    return { settings, held: () => shelf.open, taken: () => shelf.given };
  },
  broken: {
    'an error': [
      'unreadable',
      () => moduleOf(`export async function* bookings() { throw new Error('${guest}'); }`),
    ],
    'nothing to iterate over': ['unreadable', () => moduleOf('export function bookings() {}')],
  },
  placeSilent: async () => ({
    settings: await moduleOf('export async function* bookings() { await new Promise(() => {}); }'),
    asked: () => true,
  }),
});

const buckets = useS3Server();
const bucketAt = (key: string, port?: number) =>
  settingsOf(
    { kind: 'csv', path: `s3://${bucketName}/${key}`, columns, delimiter: ';' },
    toVariables({ ...buckets().access(port), secretAccessKey: secret }),
  );

describeSampleContract('an object in a bucket', {
  async place(records) {
    const proxy = await startTcpProxy(buckets().port);
    onTestFinished(() => proxy.stop());
    const content = csvOf(records);
    await buckets().put(`${day.iso}.csv`, content);
    const taken = () => (proxy.happened.bytesToClient / content.length) * records;
    return {
      settings: bucketAt('{day}.csv', proxy.port),
      held: () => buckets().held(),
      ...(records > 500 && { taken }),
    };
  },
  broken: {
    'no object': ['missing', async () => bucketAt('none/{day}.csv')],
    'no server': ['unreadable', async () => bucketAt('{day}.csv', 1), 'passing'],
  },
  async placeSilent() {
    buckets().intercept(() => true);
    onTestFinished(() => buckets().intercept());
    const held = () => buckets().held();
    return { settings: bucketAt('{day}.csv'), held, asked: () => held() > 0 };
  },
});

it.each([
  ['an API', { kind: 'http', url: 'https://pms.invalid/{day}' }],
  ['a bucket', { kind: 'csv', path: `s3://${bucketName}/{day}` }],
])('%s is reached through the proxy of the environment', async (_, source) => {
  const access = { ...buckets().access(), endpoint: 'https://s3.invalid' };
  const env = { ...toVariables(access), HTTPS_PROXY: 'http://127.0.0.1:1' };
  await expect(takeSample(settingsOf({ ...source, columns }, env))).rejects.toThrow(/proxy.unreachable/i);
});
