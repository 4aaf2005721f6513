import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { toFixedBlocks } from '../../base/content.js';
import type { ObjectContent } from './bucket.js';

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
export async function uploadObject(
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
