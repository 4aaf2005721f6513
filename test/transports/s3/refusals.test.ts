import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { PeerFault } from '../../../src/base/peer-patience.js';
import { createAwsBucket } from '../../../src/transports/s3/aws-bucket.js';
import { type S3Bucket, S3Error, type S3Fault } from '../../../src/transports/s3/bucket.js';
import { answerWith, bucketName, type Intercept, s3Secrets, useS3Server } from '../../support/s3-server.js';

const server = useS3Server();
const wordsOfServer = 'words of the server, which name keys';
const never = 's3://agency-bookings';

const calls = {
  look: (bucket: S3Bucket, key: string) => bucket.find(key),
  read: async (bucket: S3Bucket, key: string) => {
    for await (const _ of bucket.read(key));
  },
  write: (bucket: S3Bucket, key: string) =>
    bucket.put(key, {
      bytes: 1,
      metadata: {},
      async *open() {
        yield Buffer.from('x');
      },
    }),
};

interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly more?: string;
}

function refuse({ status, code, headers = {}, more = '' }: Refusal): Intercept {
  const quoted = `<Message>${wordsOfServer}</Message><AWSAccessKeyId>${s3Secrets[0]}</AWSAccessKeyId>`;
  return answerWith(status, code, { headers, more: quoted + more });
}

async function fail(call: keyof typeof calls, refusal: Refusal): Promise<{ error: S3Error; asked: number }> {
  onTestFinished(() => server().intercept());
  server().intercept(refuse(refusal));
  const key = randomUUID();
  const bucket = createAwsBucket(bucketName, server().access());
  const error: unknown = await calls[call](bucket, key).catch((reason: unknown) => reason);
  if (!(error instanceof S3Error)) throw new Error('expected an S3Error', { cause: error });
  const said = inspect(error, { depth: 10 });
  for (const secret of [...s3Secrets, wordsOfServer]) expect(said).not.toContain(secret);
  expect(error.message).toContain(`${call === 'look' ? 'look up' : call} ${never}/${key}: `);
  const asked = server().requests.filter(({ line }) => line.includes(key)).length;
  return { error, asked };
}

const everyCall = ['look', 'read', 'write'] as const;

const notAllowed = 'the account is not allowed to do that; check its key and permissions';
const inRegion =
  'the bucket is in the region eu-south-2; set AWS_REGION to it, and check AWS_ENDPOINT_URL_S3';
const elsewhere = { headers: { 'x-amz-bucket-region': 'eu-south-2' } };
/** An invalid name is not quoted. */
const somewhere = { headers: { 'x-amz-bucket-region': wordsOfServer } };
const wrongClock = "this machine's clock and the server's are too far apart; set the clock";
const overloaded = 'the server is overloaded; try again later';

it('an object whose look is refused without a reason, and that can be read, is read no further', async () => {
  onTestFinished(() => server().intercept());
  const left = new Promise<void>((resolve) =>
    server().intercept((request, response) => {
      if (request.method === 'HEAD') return answerWith(403, '')(request, response);
      response.on('close', resolve).writeHead(206, { 'content-length': 2 }).write('x');
      return true;
    }),
  );
  const bucket = createAwsBucket(bucketName, server().access());
  await expect(bucket.find('a.csv')).rejects.toThrow(S3Error);
  await left;
});

describe.each(everyCall)('when a server refuses a %s, the error says why, and whose fault it is', (call) => {
  it.each<[string, number, S3Fault, PeerFault, string, Partial<Refusal>?]>([
    ['InvalidAccessKeyId', 403, 'denied', 'refused', notAllowed],
    ['SignatureDoesNotMatch', 403, 'denied', 'refused', notAllowed],
    ['AccessDenied', 403, 'denied', 'refused', notAllowed],
    ['ExpiredToken', 400, 'denied', 'refused', notAllowed],
    ['PermanentRedirect', 301, 'failed', 'unsuited', inRegion, elsewhere],
    ['TemporaryRedirect', 307, 'failed', 'unsuited', inRegion, elsewhere],
    [
      'AuthorizationHeaderMalformed',
      400,
      'failed',
      'unsuited',
      inRegion,
      { more: '<Region>eu-south-2</Region>' },
    ],
    [
      'PermanentRedirect',
      301,
      'failed',
      'unsuited',
      'the bucket is in another region; set AWS_REGION to it, and check AWS_ENDPOINT_URL_S3',
      somewhere,
    ],
    ['RequestTimeTooSkewed', 403, 'denied', 'passing', wrongClock],
    ['SlowDown', 503, 'unreachable', 'passing', overloaded],
    ['TooManyRequests', 429, 'unreachable', 'passing', overloaded],
  ])('%s with status %i', async (code, status, fault, peer, why, refusal = {}) => {
    const headers = { ...refusal.headers, location: `${server().access().endpoint}/elsewhere/` };
    const { error, asked } = await fail(call, { status, code, ...refusal, headers });
    // The client waits between its tries, and a HEAD has no body with a code.
    const isSpent = fault === 'unreachable';
    expect(error).toMatchObject({ fault, peer, ...(!isSpent && { code }) });
    expect(error.why).toContain(isSpent ? why : `${why} (${code})`);
    // Redirects are not followed; after a HEAD, a GET asks for the reason.
    if (fault !== 'denied') expect(asked).toBe(isSpent ? 4 : call === 'look' ? 2 : 1);
    expect(server().requests.some(({ line }) => line.includes('/elsewhere/'))).toBe(false);
  });
});

describe('a clock that is wrong', () => {
  it('is corrected for the next try by the time of the server', async () => {
    const hour = 3_600_000;
    onTestFinished(() => server().intercept());
    const times: number[] = [];
    server().intercept((request, response) => {
      const [, date = '', time = ''] = /^(\d{8})T(\d{6})Z$/.exec(String(request.headers['x-amz-date'])) ?? [];
      const digits = `${date}${time}`.replace(/^(....)(..)(..)(..)(..)(..)$/, '$1-$2-$3T$4:$5:$6Z');
      times.push(Date.parse(digits) - Date.now());
      response.setHeader('date', new Date(Date.now() + hour).toUTCString());
      if (times.length === 1) return refuse({ status: 403, code: 'RequestTimeTooSkewed' })(request, response);
      void once(request.resume(), 'end').then(() => response.writeHead(200).end());
      return true;
    });
    expect(await calls.write(createAwsBucket(bucketName, server().access()), 'x')).toBe('put');
    const [wrong = Number.NaN, right = Number.NaN] = times;
    expect(Math.abs(wrong)).toBeLessThan(hour / 4);
    expect(Math.abs(right - hour)).toBeLessThan(hour / 4);
  });
});

it('a message about a server that cannot be reached names its host and port', async () => {
  const bucket = createAwsBucket('bookings', {
    endpoint: 'http://127.0.0.1:1',
    accessKeyId: 'key',
    secretAccessKey: 's3cret',
  });
  const error = await bucket.find('day.csv').catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    fault: 'unreachable',
    code: 'ECONNREFUSED',
    why: expect.stringContaining('the server 127.0.0.1:1 does not respond properly'),
  });
});
