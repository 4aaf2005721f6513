import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import type { ObjectContent } from './bucket.js';

/** Limits the memory used by an upload: parts of this size, this many at once. */
const partBytes = 8 * 1024 * 1024;
const partsAtOnce = 2;
/** What S3 allows for one object. */
const mostParts = 10_000;

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
  const target = { Bucket: bucket, Key: key };
  const condition = isConditional ? { IfNoneMatch: '*' } : {};
  const parts = cutParts(open(), Math.max(partBytes, Math.ceil(bytes / mostParts)));
  if (bytes < partBytes) {
    const { Body = Buffer.alloc(0) } = (await parts.next()).value ?? {};
    checkLength(key, bytes, Body.length);
    const object = { ...target, ...condition, Body, ContentLength: bytes, Metadata: { ...metadata } };
    await client.send(new PutObjectCommand(object));
    return;
  }
  // Amazon wants to know beforehand that the parts will have the checksums that the client adds to them.
  const addsChecksums = (await client.config.requestChecksumCalculation()) === 'WHEN_SUPPORTED';
  const checksum = addsChecksums ? ({ ChecksumAlgorithm: 'CRC32' } as const) : {};
  const { UploadId } = await client.send(
    new CreateMultipartUploadCommand({ ...target, ...checksum, Metadata: { ...metadata } }),
  );
  const upload = { ...target, UploadId };
  try {
    let sent = 0;
    const Parts = await sendParts(parts, async (part) => {
      sent += part.Body.length;
      const { ETag, ChecksumCRC32 } = await client.send(
        new UploadPartCommand({ ...upload, ...checksum, ...part }),
      );
      return { PartNumber: part.PartNumber, ETag, ChecksumCRC32 };
    });
    checkLength(key, bytes, sent);
    await client.send(
      new CompleteMultipartUploadCommand({ ...upload, ...condition, MultipartUpload: { Parts } }),
    );
  } catch (error) {
    // If this fails as well, its error must not replace the actual reason.
    await client.send(new AbortMultipartUploadCommand(upload)).catch(() => {});
    throw error;
  }
}

function checkLength(key: string, bytes: number, read: number): void {
  if (read !== bytes) throw new Error(`expected ${bytes} bytes for ${key}, got ${read}`);
}

interface Part {
  readonly PartNumber: number;
  readonly Body: Buffer;
}

/** Parts of that size, but for the last one. */
async function* cutParts(blocks: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Part, undefined> {
  let [gathered, bytes, number] = [[] as Uint8Array[], 0, 1];
  for await (const block of blocks) {
    gathered.push(block);
    bytes += block.length;
    if (bytes < size) continue;
    let rest = Buffer.concat(gathered);
    for (; rest.length >= size; rest = rest.subarray(size)) {
      yield { PartNumber: number, Body: rest.subarray(0, size) };
      number += 1;
    }
    gathered = [rest];
    bytes = rest.length;
  }
  if (bytes > 0) yield { PartNumber: number, Body: Buffer.concat(gathered) };
}

/** Sends a few parts at once. All have ended when it throws. */
async function sendParts(
  parts: AsyncIterable<Part>,
  send: (part: Part) => Promise<CompletedPart & { readonly PartNumber: number }>,
): Promise<CompletedPart[]> {
  const sent: (CompletedPart & { readonly PartNumber: number })[] = [];
  const sendSome = async () => {
    for await (const part of parts) sent.push(await send(part));
  };
  const ended = await Promise.allSettled(Array.from({ length: partsAtOnce }, sendSome));
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
  return sent.sort((one, other) => one.PartNumber - other.PartNumber);
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
