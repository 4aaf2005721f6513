import { randomUUID } from 'node:crypto';
import { type S3Bucket, S3Error, type S3Location, showS3Location } from '../../transports/s3/bucket.js';
import { type Finding, findingsOf } from '../examination/finding.js';

const { ok, warning, wrong } = findingsOf('archive');

const content = Buffer.from('An object of hotel-review doctor. It can be removed.\n');

/** The common prefix of keys in a bucket that will hold files with guests' names. */
interface ArchiveBucket {
  readonly root: S3Location;
  readonly open: () => Promise<S3Bucket>;
}

/** Puts a small object, lists it, reads it back and removes it: permissions alone prove nothing. */
export async function checkArchiveBucket({ root, open }: ArchiveBucket): Promise<readonly Finding[]> {
  const location = showS3Location(root);
  const key = `${root.key === '' ? '' : `${root.key}/`}.hotel-review-doctor-${randomUUID()}.tmp`;
  const { put, read, list, remove } = await open();
  try {
    await put(key, { open: write, bytes: content.length, metadata: {} });
  } catch (error) {
    return [tell(error)];
  }
  const findings: Finding[] = [];
  try {
    const blocks: Uint8Array[] = [];
    for await (const { bytes } of read(key)) blocks.push(bytes);
    const isListed = (await list(key)).includes(key);
    findings.push(
      isListed && Buffer.concat(blocks).equals(content)
        ? ok(`an object was put to ${location}, listed and read back`)
        : wrong(
            `${location} does not return what was put there`,
            'Is AWS_ENDPOINT_URL_S3 the address of an S3 server?',
          ),
    );
  } catch (error) {
    findings.push(tell(error));
  }
  try {
    await remove(key);
  } catch (error) {
    const left = `${showS3Location({ ...root, key })} was left behind`;
    findings.push(tell(error), warning(left, 'Remove it once that is fixed.'));
  }
  return findings;
}

/** @throws an error of another kind */
function tell(error: unknown): Finding {
  if (error instanceof S3Error) return wrong(error.message, adviseOn(error));
  throw error;
}

async function* write(): AsyncGenerator<Uint8Array> {
  yield content;
}

function adviseOn({ fault, code }: S3Error): string {
  switch (fault) {
    case 'denied':
      return 'The account needs s3:PutObject, s3:GetObject, s3:DeleteObject and s3:AbortMultipartUpload there, and s3:ListBucket and s3:ListBucketMultipartUploads on the bucket; s3.accessKeyId and s3.secretAccessKey say who it is.';
    case 'unreachable':
      return code === 'RegionMissing' ? 'Set AWS_REGION.' : 'Fix that, or try again later.';
    case 'missing':
    case 'changed':
    case 'failed':
      return 'Check archive, AWS_REGION and AWS_ENDPOINT_URL_S3.';
  }
}
