import { Readable } from 'node:stream';
import { AbortMultipartUploadCommand, type S3Client } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import type { ObjectContent } from './bucket.js';

/** Limits the memory used by an upload: parts of this size, this many at once. */
const partBytes = 8 * 1024 * 1024;
const partsAtOnce = 2;

interface ObjectUpload {
  readonly bucket: string;
  readonly key: string;
  readonly content: ObjectContent;
  /** Whether an existing object must not be replaced. */
  readonly isConditional: boolean;
}

/** Uploads a large object in parts; it appears when the last part is complete. @throws what the client throws */
export async function uploadObject(
  client: S3Client,
  { bucket, key, content, isConditional }: ObjectUpload,
): Promise<void> {
  const { open, bytes, metadata } = content;
  const upload = new Upload({
    client,
    params: {
      Bucket: bucket,
      Key: key,
      Body: Readable.from(open(), { objectMode: false }),
      ContentLength: bytes,
      Metadata: { ...metadata },
      ...(isConditional && { IfNoneMatch: '*' }),
    },
    partSize: Math.max(partBytes, Math.ceil(bytes / 10_000)),
    queueSize: partsAtOnce,
    // If aborting failed as well, that error would replace the actual reason; so we abort ourselves below.
    leavePartsOnError: true,
  });
  try {
    await upload.done();
  } catch (error) {
    const { uploadId } = upload;
    if (uploadId !== undefined) {
      const aborting = new AbortMultipartUploadCommand({ Bucket: bucket, Key: key, UploadId: uploadId });
      await client.send(aborting).catch(() => {});
    }
    throw error;
  }
}

/**
 * Ceph's object gateway honours the condition of a single put but ignores that of a multipart upload: it would replace an
 * object that another process put there meanwhile. So this checks once more before a multipart upload completes.
 *
 * @param expectNothing throws when there is an object under that key
 */
export function checkBeforeCompleting(client: S3Client, expectNothing: (key: string) => Promise<void>): void {
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (call) => {
        const { input } = call;
        if (commandName === 'CompleteMultipartUploadCommand' && 'Key' in input) {
          await expectNothing(input.Key ?? '');
        }
        return next(call);
      },
    // At this step retries are not checked: the first try may have put the object, and its answer was lost.
    { step: 'initialize', name: 'checkBeforeCompleting' },
  );
}
