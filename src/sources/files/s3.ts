import { SourceError } from '../../review/source.js';
import { type S3Bucket, S3Error } from '../../s3/bucket.js';
import { toFixedBlocks, unpackBlocks } from './blocks.js';
import type { DayFile } from './day-file.js';
import { parsePathTemplate } from './path-template.js';

export interface S3DayFileOptions {
  readonly bucket: string;
  /** With `{day}` or `{day:ddMMyyyy}` (any date-fns pattern) where the day stands. */
  readonly key: string;
  /** Asked for the bucket when something is read. */
  readonly open: () => Promise<Pick<S3Bucket, 'read'>>;
}

/**
 * The day's object in a bucket, streamed. A connection that is lost in the middle is taken up again.
 *
 * @throws RangeError for a template of a key that can't be used
 */
export function createS3DayFile({ bucket, key, open }: S3DayFileOptions): DayFile {
  const writeKey = parsePathTemplate(key);
  const locate: DayFile['locate'] = (day) => `s3://${bucket}/${writeKey(day)}`;
  return {
    locate,
    measure: async () => undefined,
    async *read(day, { blockBytes, signal }) {
      signal.throwIfAborted();
      const place = locate(day);
      const progress = { done: 0, total: 0 };
      async function* arrive() {
        const { read } = await open();
        for await (const { bytes, size } of read(writeKey(day), { signal })) {
          progress.total = size;
          yield bytes;
        }
      }
      const count = (bytes: number) => {
        progress.done += bytes;
      };
      try {
        const packed = toFixedBlocks(arrive(), blockBytes, count);
        yield* unpackBlocks(packed, { place, blockBytes, signal, progress: () => ({ ...progress }) });
      } catch (error) {
        throw explainS3Error(error, place);
      }
    },
  };
}

function explainS3Error(error: unknown, place: string): unknown {
  if (!(error instanceof S3Error)) return error;
  const { fault, code, message } = error;
  if (fault === 'missing') return new SourceError('missing', `there is no object ${place}`, { cause: error });
  if (fault === 'changed') {
    const why = 'changed while it was read: is it still being written?';
    return new SourceError('truncated', `${place} ${why}`, { cause: error });
  }
  // Who may not list is told the same of an object that is there and of one that is not.
  const hint =
    code === 'AccessDenied' ? '; without s3:ListBucket that is said, too, where there is no such object' : '';
  return new SourceError(code === 'CutOff' ? 'truncated' : 'unreadable', message + hint, { cause: error });
}
