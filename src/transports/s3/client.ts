import { Readable, Transform } from 'node:stream';
import { S3Client } from '@aws-sdk/client-s3';
import { isLoopback } from '../../base/addresses.js';
import { type PeerClock, readDifference } from '../http/peer-clocks.js';
import { createTunnelAgent, type ProxyRules } from '../http/tunnel.js';
import { type S3Account, S3Error } from './bucket.js';
import { noteServer } from './failure.js';

export interface S3Access extends S3Account {
  readonly proxy?: ProxyRules | undefined;
  /** How long the server may be silent; default 30,000. */
  readonly silenceMs?: number | undefined;
  /** Is told what the answers say about the server's clock. */
  readonly peerClock?: PeerClock | undefined;
}

const connectMs = 10_000;
/** The same as in the client's own agent. */
const maxSockets = 50;
const tries = 4;
/** Servers that are not Amazon's accept any region. */
const anyRegion = 'us-east-1';

const hostOfAmazon = /(^|\.)amazonaws\.com(\.cn)?$/;

/** A client that never waits for ever, and uses nothing that only Amazon's servers support. */
export function createS3Client(access: S3Access): S3Client {
  const { endpoint, accessKeyId, secretAccessKey, sessionToken, silenceMs = 30_000 } = access;
  const isAmazon = endpoint === undefined || hostOfAmazon.test(new URL(endpoint).hostname);
  const region = access.region ?? (endpoint === undefined ? undefined : anyRegion);
  const client = new S3Client({
    ...(region !== undefined && { region }),
    ...(endpoint !== undefined && { endpoint }),
    ...(accessKeyId !== undefined &&
      secretAccessKey !== undefined && {
        credentials: { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) },
      }),
    // Servers that are not Amazon's rarely have a host name for each bucket.
    forcePathStyle: endpoint !== undefined,
    // Amazon requires a checksum for buckets with Object Lock; other servers refuse headers that they don't know.
    requestChecksumCalculation: isAmazon ? 'WHEN_SUPPORTED' : 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // The configured region must be the bucket's own; redirects are not followed.
    followRegionRedirects: false,
    retryMode: 'standard',
    maxAttempts: tries,
    requestHandler: {
      connectionTimeout: connectMs,
      socketTimeout: silenceMs,
      ...(access.proxy?.url !== undefined && {
        httpsAgent: createTunnelAgent(access, { connectTimeoutMs: connectMs, keepAlive: true, maxSockets }),
      }),
    },
  });
  guardRequests(client, access);
  return client;
}

/** Every request passes here, at each of its tries, and every answer before it is read. */
function guardRequests(client: S3Client, { endpoint, peerClock }: S3Access): void {
  const handler = client.config.requestHandler;
  const send = handler.handle.bind(handler);
  handler.handle = async (request, options) => {
    const { protocol, hostname, port, query } = request;
    // A configured endpoint was checked before; the environment and the profile may set one, too.
    const isHere = isLoopback(hostname) || hostname.endsWith('.localhost');
    if (endpoint === undefined && protocol === 'http:' && !isHere) {
      const why = 'plain http:// is allowed for this machine only; check AWS_ENDPOINT_URL and the profile';
      throw new S3Error('failed', 'PlainHttp', 'call the S3 server', why);
    }
    const sentAt = peerClock?.clock() ?? 0;
    const server = `${hostname}:${port ?? (protocol === 'http:' ? 80 : 443)}`;
    const { response } = await send(request, options).catch((error: unknown) => {
      noteServer(error, server);
      throw error;
    });
    noteServer(response, server);
    peerClock?.note(readDifference(response.headers, { sentAt, receivedAt: peerClock.clock() }));
    const isContent = query?.['x-id'] === 'GetObject' && response.statusCode < 300;
    if (!isContent && response.body instanceof Readable) response.body = limitAnswer(response.body);
    return { response };
  };
}

/** A page of a listing has a thousand keys of 1,024 bytes at most, and some XML around each. */
const longestAnswer = 16 * 1024 * 1024;
/** For the whole of such an answer, because a server may send only a byte now and then. */
const answerMs = 120_000;

/**
 * Limits what a server answers, except for the content of an object: the client would collect an endless error or
 * listing in memory.
 */
function limitAnswer(body: Readable): Readable {
  let bytes = 0;
  const fail = (code: string) => Object.assign(new Error(code), { code });
  const limited = new Transform({
    transform(block: Buffer, _encoding, done) {
      bytes += block.length;
      if (bytes > longestAnswer) done(fail('AnswerTooLong'));
      else done(null, block);
    },
  });
  const timer = setTimeout(() => limited.destroy(fail('AnswerTooSlow')), answerMs).unref();
  body.once('error', (error) => limited.destroy(error));
  limited.once('close', () => {
    clearTimeout(timer);
    body.destroy();
  });
  return body.pipe(limited);
}
