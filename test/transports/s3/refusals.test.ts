import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createAwsBucket } from '../../../src/transports/s3/aws-bucket.js';
import { type S3Bucket, S3Error } from '../../../src/transports/s3/bucket.js';
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

describe.each(everyCall)('when a server refuses a %s, the error says', (call) => {
  it.each([
    ['InvalidAccessKeyId', 403],
    ['SignatureDoesNotMatch', 403],
    ['AccessDenied', 403],
    ['ExpiredToken', 400],
  ])('that the account is not allowed, with the server code %s', async (code, status) => {
    const { error } = await fail(call, { status, code });
    expect(error).toMatchObject({ fault: 'denied', code });
    expect(error.why).toContain(`check its key and permissions (${code})`);
  });

  it.each([
    ['301', { status: 301, code: 'PermanentRedirect', headers: { 'x-amz-bucket-region': 'eu-south-2' } }],
    ['307', { status: 307, code: 'TemporaryRedirect', headers: { 'x-amz-bucket-region': 'eu-south-2' } }],
    ['400', { status: 400, code: 'AuthorizationHeaderMalformed', more: '<Region>eu-south-2</Region>' }],
  ])('which region the bucket is in: %s', async (_, refusal) => {
    const { headers } = refusal as Refusal;
    const location = `${server().access().endpoint}/elsewhere/`;
    const { error, asked } = await fail(call, { ...refusal, headers: { ...headers, location } });
    expect(error.fault).toBe('failed');
    expect(error.why).toBe(
      `the bucket is in the region eu-south-2; set AWS_REGION to it, and check AWS_ENDPOINT_URL_S3 (${refusal.code})`,
    );
    // Redirects are not followed; after a HEAD, a GET asks for the reason.
    expect(asked).toBe(call === 'look' ? 2 : 1);
    expect(server().requests.some(({ line }) => line.includes('/elsewhere/'))).toBe(false);
  });

  it('that the bucket is in another region, without quoting an invalid name', async () => {
    const headers = { 'x-amz-bucket-region': wordsOfServer };
    const { error } = await fail(call, { status: 301, code: 'PermanentRedirect', headers });
    expect(error.why).toContain('the bucket is in another region; set AWS_REGION to it');
  });

  it('that the clock is wrong', async () => {
    const { error } = await fail(call, { status: 403, code: 'RequestTimeTooSkewed' });
    expect(error).toMatchObject({ fault: 'denied', code: 'RequestTimeTooSkewed' });
    expect(error.why).toContain("this machine's clock and the server's are too far apart; set the clock");
  });

  // The client waits between its tries; the second code is handled the same way for each call.
  it.each([['SlowDown', 503] as const, ...(call === 'look' ? [['TooManyRequests', 429] as const] : [])])(
    'that it is overloaded, after four tries: %s',
    async (code, status) => {
      const { error, asked } = await fail(call, { status, code });
      expect(error.fault).toBe('unreachable');
      expect(error.why).toContain('the server is overloaded; try again later');
      expect(asked).toBe(4);
    },
  );
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
