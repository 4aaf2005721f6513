import { S3Client } from '@aws-sdk/client-s3';

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

/** A client that waits for no server for ever, and asks nothing of it that others than Amazon's don't know. */
export function createS3Client({ silenceMs = 30_000, ...access }: S3Access): S3Client {
  const { endpoint, accessKeyId, secretAccessKey, sessionToken } = access;
  const region = access.region ?? (endpoint === undefined ? undefined : anyRegion);
  return new S3Client({
    ...(region !== undefined && { region }),
    ...(endpoint !== undefined && { endpoint }),
    ...(accessKeyId !== undefined &&
      secretAccessKey !== undefined && {
        credentials: { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) },
      }),
    forcePathStyle: access.pathStyle ?? endpoint !== undefined,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // The bucket's own region is the configured one: nobody is sent elsewhere.
    followRegionRedirects: false,
    retryMode: 'standard',
    maxAttempts: tries,
    requestHandler: { connectionTimeout: connectMs, socketTimeout: silenceMs },
  });
}
