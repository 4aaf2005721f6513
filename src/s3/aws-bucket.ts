import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  type S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { type ObjectContent, type S3Bucket, S3Error } from './bucket.js';
import { createS3Client, type S3Access } from './client.js';
import { explainS3Failure, isConflict, isNotKnown } from './failure.js';
import { showS3Location } from './location.js';
import { type ArrivingObject, readObject } from './object-reading.js';

/** What is in memory of an object on its way: parts of that size, so many at once. */
const partBytes = 8 * 1024 * 1024;
const partsAtOnce = 2;

/** A bucket of Amazon S3, or of a server that speaks as it does. */
export function createAwsBucket(bucket: string, access: S3Access): S3Bucket {
  const client = createS3Client(access);
  const showKey = (key: string) => showS3Location({ bucket, key });
  const explain = (what: string, signal?: AbortSignal) => (error: unknown) => {
    throw explainS3Failure(what, error, signal);
  };
  let knowsConditions = true;

  return {
    async find(key) {
      try {
        const found = await client.send(new HeadObjectCommand({ Bucket: bucket, Key: key }));
        return { size: found.ContentLength ?? 0, metadata: found.Metadata ?? {} };
      } catch (error) {
        const failure = explainS3Failure(`look at ${showKey(key)}`, error);
        if (failure instanceof S3Error && failure.fault === 'missing') return undefined;
        throw failure;
      }
    },
    read(key, { signal } = {}) {
      const place = `read ${showKey(key)}`;
      return readObject({
        place,
        signal,
        get: (rest) => getObject(client, { bucket, key, rest, place, signal }),
      });
    },
    async put(key, content) {
      const upload = (isConditional: boolean) =>
        uploadObject(client, { bucket, key, content, isConditional });
      try {
        await upload(knowsConditions).catch((error: unknown) => {
          if (!knowsConditions || !isNotKnown(error)) throw error;
          knowsConditions = false;
          return upload(false);
        });
        return 'put';
      } catch (error) {
        if (isConflict(error)) return 'taken';
        throw explainS3Failure(`write ${showKey(key)}`, error);
      }
    },
    async list(prefix) {
      const keys: string[] = [];
      let next: string | undefined;
      do {
        const page = await client
          .send(
            new ListObjectsV2Command({
              Bucket: bucket,
              Prefix: prefix,
              Delimiter: '/',
              ...(next !== undefined && { ContinuationToken: next }),
            }),
          )
          .catch(explain(`list ${showKey(prefix)}`));
        keys.push(...(page.Contents ?? []).flatMap(({ Key }) => (Key === undefined ? [] : [Key])));
        next = page.IsTruncated === true ? page.NextContinuationToken : undefined;
      } while (next !== undefined);
      return keys;
    },
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
          // Some servers take a prefix for a hint.
          if (Key?.startsWith(prefix) !== true) continue;
          await client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }));
        }
      } catch (error) {
        const failure = explainS3Failure(`look for uploads to ${showKey(prefix)}`, error);
        // A right that is needed for this alone is not asked for.
        if (isNotKnown(error) || (failure instanceof S3Error && failure.fault === 'denied')) return;
        throw failure;
      }
    },
  };
}

interface Wanted {
  readonly bucket: string;
  readonly key: string;
  readonly rest: { readonly from: number; readonly etag: string } | undefined;
  readonly place: string;
  readonly signal: AbortSignal | undefined;
}

async function getObject(
  client: S3Client,
  { bucket, key, rest, place, signal }: Wanted,
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
      throw new S3Error('failed', 'NoLength', `${place}: the server does not tell how long the object is`);
    }
    return { body: Body, size: Number(size), etag: ETag, from: Number(from), drop: () => Body.destroy() };
  } catch (error) {
    throw explainS3Failure(place, error, signal);
  }
}

interface ObjectUpload {
  readonly bucket: string;
  readonly key: string;
  readonly content: ObjectContent;
  /** Whether an object that is there is to be left alone. */
  readonly isConditional: boolean;
}

/** In parts where it is large: the object appears when the last of them is there. */
async function uploadObject(
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
