import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { toFixedBlocks } from '../../base/content.js';
import { type ObjectContent, type S3Bucket, S3Error, showS3Location } from './bucket.js';
import { createS3Client, type S3Access } from './client.js';
import { explainS3Failure, isConflict, isMissing, isUnsupported } from './failure.js';
import { type ArrivingObject, type ObjectRest, readObject } from './reading.js';

/** Of a listing, each with up to a thousand keys: far more than a run archives, and than years of them. */
const mostPagesOfFolder = 1_000;
const mostPages = 10_000;

/** A bucket of Amazon S3 or of a compatible server. */
export function createAwsBucket(bucket: string, access: S3Access): S3Bucket {
  const client = createS3Client(access);
  const at = (key: string) => ({ Bucket: bucket, Key: key });
  const show = (verb: string, key: string) => `${verb} ${showS3Location({ bucket, key })}`;
  const explain = (what: string) => (error: unknown) => {
    throw explainS3Failure(what, error);
  };
  let supportsConditions = true;

  async function find(key: string): ReturnType<S3Bucket['find']> {
    try {
      return (await client.send(new HeadObjectCommand(at(key)))).Metadata ?? {};
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw await findReason(key, explainS3Failure(show('look up', key), error));
    }
  }

  /** A refused HEAD gives no reason, because its answer has no body; a GET of the first byte does. */
  async function findReason(key: string, failure: unknown): Promise<unknown> {
    if (!isRefusal(failure) || !failure.code.startsWith('HTTP-')) return failure;
    try {
      const { Body } = await client.send(new GetObjectCommand({ ...at(key), Range: 'bytes=0-0' }));
      if (Body instanceof Readable) Body.destroy();
      return failure;
    } catch (error) {
      const reason = explainS3Failure(failure.what, error);
      return isRefusal(reason) ? reason : failure;
    }
  }

  async function get(
    what: string,
    key: string,
    rest: ObjectRest | undefined,
    signal: AbortSignal | undefined,
  ): Promise<ArrivingObject> {
    const wanted = rest && { Range: `bytes=${rest.from}-`, IfMatch: rest.etag };
    try {
      const command = new GetObjectCommand({ ...at(key), ...wanted });
      const answer = await client.send(command, signal && { abortSignal: signal });
      const { Body, ContentLength, ContentRange, ETag = '' } = answer;
      const [, from = '0', size = String(ContentLength)] =
        /^bytes (\d+)-\d+\/(\d+)$/.exec(ContentRange ?? '') ?? [];
      if (!(Body instanceof Readable) || !/^\d+$/.test(size))
        throw new S3Error('failed', 'NoLength', what, 'the server does not say how long the object is');
      return { body: Body, size: Number(size), etag: ETag, from: Number(from) };
    } catch (error) {
      throw explainS3Failure(what, error, signal);
    }
  }

  /**
   * Ceph's object gateway honours the condition of a single put but ignores that of a multipart upload: it would replace an
   * object that another process put there meanwhile. So this checks once more before a multipart upload completes: not
   * at each try of that, because the first one may have put the object, and its answer was lost.
   */
  async function putNew(key: string, content: ObjectContent): Promise<void> {
    // A concurrent call may learn that the server does not support conditions.
    const isConditional = supportsConditions;
    const target = { ...at(key), ...(isConditional && { IfNoneMatch: '*' as const }) };
    const expectNothing = async () => {
      if ((await find(key)) === undefined) return;
      throw new S3Error('changed', 'Taken', show('write', key), 'another object was put there meanwhile');
    };
    await uploadObject(client, target, content, expectNothing).catch((error: unknown) => {
      if (!isConditional || !isUnsupported(error)) throw error;
      supportsConditions = false;
      return uploadObject(client, at(key), content, expectNothing);
    });
  }

  async function list(prefix: string, most: number, how: { readonly Delimiter?: '/' }): Promise<string[]> {
    const what = show('list', prefix);
    const keys: string[] = [];
    let pages = 0;
    try {
      const input = { Bucket: bucket, Prefix: prefix, ...how };
      for await (const { Contents = [], IsTruncated } of paginateListObjectsV2({ client }, input)) {
        for (const { Key } of Contents) if (Key !== undefined) keys.push(Key);
        if (IsTruncated !== true) break;
        pages += 1;
        if (pages === most) throw new S3Error('failed', 'TooManyKeys', what, 'the listing does not end');
      }
      return keys;
    } catch (error) {
      throw explainS3Failure(what, error);
    }
  }

  return {
    find,
    read(key, { signal } = {}) {
      const what = show('read', key);
      return readObject(what, (rest) => get(what, key, rest, signal), signal);
    },
    async put(key, content) {
      try {
        await putNew(key, content);
        return 'put';
      } catch (error) {
        if (isConflict(error)) return 'taken';
        throw explainS3Failure(show('write', key), error);
      }
    },
    replace: (key, content) =>
      uploadObject(client, at(key), content, async () => {}).catch(explain(show('write', key))),
    list: (prefix) => list(prefix, mostPagesOfFolder, { Delimiter: '/' }),
    listBelow: (prefix) => list(prefix, mostPages, {}),
    async remove(key) {
      await client.send(new DeleteObjectCommand(at(key))).catch(explain(show('remove', key)));
    },
    async abandonUploads(prefix) {
      try {
        const { Uploads = [] } = await client.send(
          new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix }),
        );
        for (const { Key, UploadId } of Uploads) {
          // Some servers treat the prefix as a hint only.
          if (Key?.startsWith(prefix) !== true) continue;
          const abort = new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId });
          await client.send(abort).catch((error: unknown) => {
            if (!isMissing(error)) throw error;
          });
        }
      } catch (error) {
        const failure = explainS3Failure(show('look for uploads to', prefix), error);
        // Do not require a permission that is needed only for this.
        if (isUnsupported(error) || (failure instanceof S3Error && failure.fault === 'denied')) return;
        throw failure;
      }
    },
  };
}

function isRefusal(failure: unknown): failure is S3Error {
  return failure instanceof S3Error && (failure.fault === 'denied' || failure.fault === 'failed');
}

/** An upload needs the memory of one part. */
const partBytes = 8 * 1024 * 1024;
/** What S3 allows for one object. */
const mostParts = 10_000;

/** Where an object is put, and on which condition. */
interface Target {
  readonly Bucket: string;
  readonly Key: string;
  readonly IfNoneMatch?: '*';
}

/**
 * Uploads a large object in parts; it appears when the last part is complete.
 *
 * @param beforeCompleting called before a large object appears; what it throws stops that
 * @throws what the client throws
 */
async function uploadObject(
  client: S3Client,
  target: Target,
  { open, bytes, metadata }: ObjectContent,
  beforeCompleting: () => Promise<void>,
): Promise<void> {
  const Metadata = { ...metadata };
  const parts = toFixedBlocks(open(), Math.max(partBytes, Math.ceil(bytes / mostParts)));
  if (bytes < partBytes) {
    const Body: Buffer = (await parts.next()).value ?? Buffer.alloc(0);
    expectLength(target, bytes, Body.length);
    await client.send(new PutObjectCommand({ ...target, Body, ContentLength: bytes, Metadata }));
    return;
  }
  // Amazon wants to know beforehand that the parts will have the checksums that the client adds to them.
  const addsChecksums = (await client.config.requestChecksumCalculation()) === 'WHEN_SUPPORTED';
  const checksum = addsChecksums ? ({ ChecksumAlgorithm: 'CRC32' } as const) : {};
  const { Bucket, Key } = target;
  const { UploadId } = await client.send(
    new CreateMultipartUploadCommand({ Bucket, Key, ...checksum, Metadata }),
  );
  const upload = { Bucket, Key, UploadId };
  try {
    const Parts: CompletedPart[] = [];
    let sent = 0;
    for await (const Body of parts) {
      const PartNumber = Parts.length + 1;
      const part = new UploadPartCommand({ ...upload, ...checksum, PartNumber, Body });
      const { ETag, ChecksumCRC32 } = await client.send(part);
      Parts.push({ PartNumber, ETag, ChecksumCRC32 });
      sent += Body.length;
    }
    expectLength(target, bytes, sent);
    await beforeCompleting();
    await client.send(
      new CompleteMultipartUploadCommand({ ...target, UploadId, MultipartUpload: { Parts } }),
    );
  } catch (error) {
    // If this fails as well, its error must not replace the actual reason.
    await client.send(new AbortMultipartUploadCommand(upload)).catch(() => {});
    throw error;
  }
}

function expectLength({ Key }: Target, bytes: number, read: number): void {
  if (read !== bytes) throw new Error(`expected ${bytes} bytes for ${Key}, got ${read}`);
}
