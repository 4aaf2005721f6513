import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  S3Client,
} from '@aws-sdk/client-s3';
import { isLoopback } from '../../base/loopback.js';
import type { ProxyRules } from '../http/connection-rules.js';
import { type PeerClock, readDifference } from '../http/peer-clocks.js';
import { createTunnelAgent } from '../http/tunnel.js';
import { type S3Account, type S3Bucket, S3Error, showS3Location } from './bucket.js';
import { explainS3Failure, isConflict, isMissing, isUnsupported, noteServer } from './failure.js';
import { limitAnswers } from './limited-answers.js';
import { type ArrivingObject, readObject } from './reading.js';
import { checkBeforeCompleting, uploadObject } from './upload.js';

/** A bucket of Amazon S3 or of a compatible server. */
export function createAwsBucket(bucket: string, access: S3Access): S3Bucket {
  const client = createS3Client(access);
  const showKey = (key: string) => showS3Location({ bucket, key });
  const explain = (what: string, signal?: AbortSignal) => (error: unknown) => {
    throw explainS3Failure(what, error, signal);
  };
  let supportsConditions = true;

  const find: S3Bucket['find'] = async (key) => {
    try {
      const found = await client.send(new HeadObjectCommand({ Bucket: bucket, Key: key }));
      return { size: found.ContentLength ?? 0, metadata: found.Metadata ?? {} };
    } catch (error) {
      if (isMissing(error)) return undefined;
      const failure = explainS3Failure(`look up ${showKey(key)}`, error);
      throw await askForReason(client, { bucket, key, failure });
    }
  };
  checkBeforeCompleting(client, async (key) => {
    if ((await find(key)) === undefined) return;
    throw new S3Error('changed', 'Taken', `write ${showKey(key)}`, 'another object was put there meanwhile');
  });

  async function listKeys(
    prefix: string,
    how: { readonly Delimiter?: '/' },
    most: number,
  ): Promise<readonly string[]> {
    const keys: string[] = [];
    let next: string | undefined;
    let pages = 0;
    do {
      pages += 1;
      if (pages > most)
        throw new S3Error('failed', 'TooManyKeys', `list ${showKey(prefix)}`, 'the listing does not end');
      const page = await client
        .send(
          new ListObjectsV2Command({
            ...{ Bucket: bucket, Prefix: prefix, ...how },
            ...(next !== undefined && { ContinuationToken: next }),
          }),
        )
        .catch(explain(`list ${showKey(prefix)}`));
      for (const { Key } of page.Contents ?? []) if (Key !== undefined) keys.push(Key);
      next = page.IsTruncated === true ? page.NextContinuationToken : undefined;
    } while (next !== undefined);
    return keys;
  }

  return {
    find,
    read(key, { signal } = {}) {
      const what = `read ${showKey(key)}`;
      return readObject({
        what,
        signal,
        get: (rest) => getObject(client, { bucket, key, rest, what, signal }),
      });
    },
    async put(key, content) {
      const upload = (isConditional: boolean) =>
        uploadObject(client, { bucket, key, content, isConditional });
      // A concurrent call may learn that the server does not support conditions.
      const isConditional = supportsConditions;
      try {
        await upload(isConditional).catch((error: unknown) => {
          if (!isConditional || !isUnsupported(error)) throw error;
          supportsConditions = false;
          return upload(false);
        });
        return 'put';
      } catch (error) {
        if (isConflict(error)) return 'taken';
        throw explainS3Failure(`write ${showKey(key)}`, error);
      }
    },
    async replace(key, content) {
      await uploadObject(client, { bucket, key, content, isConditional: false }).catch(
        explain(`write ${showKey(key)}`),
      );
    },
    list: (prefix) => listKeys(prefix, { Delimiter: '/' }, mostPagesOfFolder),
    listBelow: (prefix) => listKeys(prefix, {}, mostPages),
    async remove(key) {
      await client
        .send(new DeleteObjectCommand({ Bucket: bucket, Key: key }))
        .catch(explain(`remove ${showKey(key)}`));
    },
    async abandonUploads(prefix) {
      try {
        const { Uploads = [] } = await client.send(
          new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix }),
        );
        for (const { Key, UploadId } of Uploads) {
          // Some servers treat the prefix as a hint only.
          if (Key?.startsWith(prefix) !== true) continue;
          await client
            .send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }))
            .catch((error: unknown) => {
              if (!isMissing(error)) throw error;
            });
        }
      } catch (error) {
        const failure = explainS3Failure(`look for uploads to ${showKey(prefix)}`, error);
        // Do not require a permission that is needed only for this.
        if (isUnsupported(error) || (failure instanceof S3Error && failure.fault === 'denied')) return;
        throw failure;
      }
    },
  };
}

interface Refused {
  readonly bucket: string;
  readonly key: string;
  readonly failure: unknown;
}

/** A refused HEAD gives no reason, because its answer has no body; a GET of the first byte does. */
async function askForReason(client: S3Client, { bucket, key, failure }: Refused): Promise<unknown> {
  if (!isRefusal(failure) || !failure.code.startsWith('HTTP-')) return failure;
  try {
    const first = new GetObjectCommand({ Bucket: bucket, Key: key, Range: 'bytes=0-0' });
    const { Body } = await client.send(first);
    if (Body instanceof Readable) Body.destroy();
    return failure;
  } catch (error) {
    const reason = explainS3Failure(failure.what, error);
    return isRefusal(reason) ? reason : failure;
  }
}

function isRefusal(failure: unknown): failure is S3Error {
  return failure instanceof S3Error && (failure.fault === 'denied' || failure.fault === 'failed');
}

interface Wanted {
  readonly bucket: string;
  readonly key: string;
  readonly rest: { readonly from: number; readonly etag: string } | undefined;
  readonly what: string;
  readonly signal: AbortSignal | undefined;
}

async function getObject(
  client: S3Client,
  { bucket, key, rest, what, signal }: Wanted,
): Promise<ArrivingObject> {
  const command = new GetObjectCommand({
    Bucket: bucket,
    Key: key,
    ...(rest && { Range: `bytes=${rest.from}-`, IfMatch: rest.etag }),
  });
  try {
    const answer = await client.send(command, { ...(signal && { abortSignal: signal }) });
    const { Body, ContentLength, ContentRange, ETag = '' } = answer;
    const [, from = '0', size = String(ContentLength)] =
      /^bytes (\d+)-\d+\/(\d+)$/.exec(ContentRange ?? '') ?? [];
    if (!(Body instanceof Readable) || !/^\d+$/.test(size)) {
      throw new S3Error('failed', 'NoLength', what, 'the server does not say how long the object is');
    }
    return { body: Body, size: Number(size), etag: ETag, from: Number(from), drop: () => Body.destroy() };
  } catch (error) {
    throw explainS3Failure(what, error, signal);
  }
}

/** Of a listing, each with up to a thousand keys: far more than a run archives, and than years of them. */
const mostPagesOfFolder = 1_000;
const mostPages = 10_000;

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
export function createS3Client({ silenceMs = 30_000, ...access }: S3Access): S3Client {
  const { endpoint, accessKeyId, secretAccessKey, sessionToken } = access;
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
    requestChecksumCalculation: isAmazon(endpoint) ? 'WHEN_SUPPORTED' : 'WHEN_REQUIRED',
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
  if (endpoint === undefined) refusePlainHttp(client);
  noteServers(client);
  limitAnswers(client);
  if (access.peerClock) notePeerClock(client, access.peerClock);
  return client;
}

/** Messages name the server, which the environment or the profile may have set. */
function noteServers(client: S3Client): void {
  client.middlewareStack.add(
    (next) => async (call) => {
      const { protocol, hostname, port } = call.request as {
        readonly protocol: string;
        readonly hostname: string;
        readonly port?: number;
      };
      try {
        return await next(call);
      } catch (error) {
        noteServer(error, `${hostname}:${port ?? (protocol === 'http:' ? 80 : 443)}`);
        throw error;
      }
    },
    { step: 'build', name: 'noteServers' },
  );
}

function notePeerClock(client: S3Client, { clock, note }: PeerClock): void {
  client.middlewareStack.add(
    (next) => async (call) => {
      const sentAt = clock();
      const result = await next(call);
      const { headers } = result.response as { readonly headers: Readonly<Record<string, string>> };
      note(readDifference(headers, { sentAt, receivedAt: clock() }));
      return result;
    },
    // For each try, right after its answer arrived.
    { step: 'deserialize', priority: 'low', name: 'notePeerClock' },
  );
}

/** The configured endpoint was checked before; the environment and the profile may set one, too. (Design 10.) */
function refusePlainHttp(client: S3Client): void {
  client.middlewareStack.add(
    (next) => async (call) => {
      const { protocol, hostname } = call.request as { readonly protocol: string; readonly hostname: string };
      if (protocol === 'http:' && !isLoopback(hostname) && !hostname.endsWith('.localhost')) {
        const why = 'plain http:// is allowed for this machine only; check AWS_ENDPOINT_URL and the profile';
        throw new S3Error('failed', 'PlainHttp', 'call the S3 server', why);
      }
      return next(call);
    },
    { step: 'build', name: 'refusePlainHttp' },
  );
}

function isAmazon(endpoint: string | undefined): boolean {
  return endpoint === undefined || hostOfAmazon.test(new URL(endpoint).hostname);
}
