import { S3Client } from '@aws-sdk/client-s3';
import { isLoopback } from '../http/loopback.js';
import { S3Error } from './bucket.js';

export interface S3Access {
  readonly region?: string | undefined;
  /** Of a server that is not Amazon's. */
  readonly endpoint?: string | undefined;
  /** Without them the standard chain is asked: environment, profile, the machine's role. */
  readonly accessKeyId?: string | undefined;
  readonly secretAccessKey?: string | undefined;
  readonly sessionToken?: string | undefined;
  /** Whether the bucket stands in the path, not in the host's name; where there is an endpoint it does if not given. */
  readonly pathStyle?: boolean | undefined;
  /** How long the server may be silent; 30,000 if not given. */
  readonly silenceMs?: number | undefined;
}

const connectMs = 10_000;
const tries = 4;
/** Servers that are not Amazon's take any region. */
const anyRegion = 'us-east-1';

const hostOfAmazon = /(^|\.)amazonaws\.com(\.cn)?$/;

/** A client that waits for no server for ever, and asks nothing of it that others than Amazon's don't know. */
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
    forcePathStyle: access.pathStyle ?? endpoint !== undefined,
    // Amazon wants a checksum of what comes into a bucket with Object Lock; servers of others refuse what they don't know.
    requestChecksumCalculation: isAmazon(endpoint) ? 'WHEN_SUPPORTED' : 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // The bucket's own region is the configured one: nobody is sent elsewhere.
    followRegionRedirects: false,
    retryMode: 'standard',
    maxAttempts: tries,
    requestHandler: { connectionTimeout: connectMs, socketTimeout: silenceMs },
  });
  if (endpoint === undefined) refusePlainHttp(client);
  return client;
}

/** An endpoint of the configuration has been looked at; the environment and the profile may name one, too. (Design 10.) */
function refusePlainHttp(client: S3Client): void {
  client.middlewareStack.add(
    (next) => async (call) => {
      const { protocol, hostname } = call.request as { readonly protocol: string; readonly hostname: string };
      if (protocol === 'http:' && !isLoopback(hostname) && !hostname.endsWith('.localhost')) {
        const why =
          'plain http:// is taken for this machine only; look at AWS_ENDPOINT_URL and at the profile';
        throw new S3Error('failed', 'PlainHttp', 'ask the server of the bucket', why);
      }
      return next(call);
    },
    { step: 'build', name: 'refusePlainHttp' },
  );
}

function isAmazon(endpoint: string | undefined): boolean {
  return endpoint === undefined || hostOfAmazon.test(new URL(endpoint).hostname);
}
