import { Readable } from 'node:stream';
import { AbortMultipartUploadCommand, type S3Client } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import type { ObjectContent } from './bucket.js';

/** What is in memory of an object on its way: parts of that size, so many at once. */
const partBytes = 8 * 1024 * 1024;
const partsAtOnce = 2;

export interface ObjectUpload {
  readonly bucket: string;
  readonly key: string;
  readonly content: ObjectContent;
  /** Whether an object that is there is to be left alone. */
  readonly isConditional: boolean;
}

/** In parts where it is large: the object appears when the last of them is there. @throws what the client throws */
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
    // Where the parts can't be dropped either, that would be told in the place of the reason.
    leavePartsOnError: true,
  });
  try {
    await upload.done();
  } catch (error) {
    const { uploadId } = upload;
    if (uploadId !== undefined) {
      const dropping = new AbortMultipartUploadCommand({ Bucket: bucket, Key: key, UploadId: uploadId });
      await client.send(dropping).catch(() => {});
    }
    throw error;
  }
}

/**
 * Ceph's object gateway minds the condition of an object that comes at once, and passes over that of one in parts: it would
 * replace what another put there while the parts were on their way. So it is looked once more when they are all there.
 *
 * @param expectNothing throws where there is an object under that key
 */
export function lookBeforeCompleting(client: S3Client, expectNothing: (key: string) => Promise<void>): void {
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (call) => {
        const { input } = call;
        if (commandName === 'CompleteMultipartUploadCommand' && 'Key' in input) {
          await expectNothing(input.Key ?? '');
        }
        return next(call);
      },
    // A second try of the call does not come by here: the first may have put the object, and its answer was lost.
    { step: 'initialize', name: 'lookBeforeCompleting' },
  );
}
