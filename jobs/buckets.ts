import type { Config } from '../src/config/load.js';
import type { S3Bucket } from '../src/s3/bucket.js';

/** Opens a bucket on demand, and loads the S3 client only then. */
export function findBucket(
  { s3, proxy }: Pick<Config, 's3' | 'proxy'>,
  bucket: string,
): () => Promise<S3Bucket> {
  let found: Promise<S3Bucket> | undefined;
  return () => {
    found ??= import('../src/s3/aws-bucket.js').then(({ createAwsBucket }) =>
      createAwsBucket(bucket, { ...s3, proxy }),
    );
    return found;
  };
}
