import type { Config } from '../src/config/load.js';
import type { S3Bucket } from '../src/s3/bucket.js';

/** Finds the bucket when it is asked for, and loads what speaks to it only then. */
export function findBucket({ s3 }: Pick<Config, 's3'>, bucket: string): () => Promise<S3Bucket> {
  let found: Promise<S3Bucket> | undefined;
  return () => {
    found ??= import('../src/s3/aws-bucket.js').then(({ createAwsBucket }) => createAwsBucket(bucket, s3));
    return found;
  };
}
