/** An object, or the beginning of the keys of many. */
export interface S3Location {
  readonly bucket: string;
  /** Without a slash at its beginning; empty for the bucket itself. */
  readonly key: string;
}

/** Names as S3 has them; nothing in it can be a host's, a user's or a password. */
const bucketName = /^[a-z0-9](?:[a-z0-9.-]{1,61})[a-z0-9]$/;
const refusedCharacter = /[?#\\\p{Cc}\p{Cs}]/u;

/**
 * Reads `s3://BUCKET/KEY`; undefined for anything else, be it a user's name, a query, an empty part, or one that is `.` or
 * `..`: some servers take it for a step into another folder. A slash at the end is dropped.
 */
export function readS3Location(text: string): S3Location | undefined {
  const [, bucket = '', path = ''] = /^s3:\/\/([^/]*)(?:\/(.*))?$/s.exec(text) ?? [];
  const key = path.replace(/\/$/, '');
  return bucketName.test(bucket) && (key === '' || isKey(key)) ? { bucket, key } : undefined;
}

function isKey(key: string): boolean {
  return !refusedCharacter.test(key) && key.split('/').every((part) => !['', '.', '..'].includes(part));
}

export function showS3Location({ bucket, key }: S3Location): string {
  return key === '' ? `s3://${bucket}` : `s3://${bucket}/${key}`;
}
