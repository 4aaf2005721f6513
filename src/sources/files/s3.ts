import { SourceError } from '../../booking/source.js';
import { type S3Bucket, S3Error } from '../../transports/s3/bucket.js';
import { createDayFile, type DayFile, parsePathTemplate } from './day-file.js';

interface S3DayFileOptions {
  readonly bucket: string;
  /** With `{day}` or `{day:ddMMyyyy}` (any date-fns pattern) as a placeholder for the day. */
  readonly key: string;
  /** Opens the bucket. Called for each read. */
  readonly open: () => Promise<S3Bucket>;
}

/**
 * Streams the day's object from a bucket. After a lost connection, reading resumes where it stopped.
 *
 * @throws RangeError for an invalid key template
 */
export function createS3DayFile({ bucket, key, open }: S3DayFileOptions): DayFile {
  const writeKey = parsePathTemplate(key);
  const locate: DayFile['locate'] = (day) => `s3://${bucket}/${writeKey(day)}`;
  return createDayFile({
    locate,
    async *read(day, { signal }) {
      try {
        const { read } = await open();
        yield* read(writeKey(day), { signal });
      } catch (error) {
        throw explainS3Error(error, locate(day));
      }
    },
  });
}

function explainS3Error(error: unknown, location: string): unknown {
  if (!(error instanceof S3Error)) return error;
  const { fault, code, message, peer } = error;
  if (fault === 'missing')
    return new SourceError('missing', `there is no object ${location}`, { cause: error });
  if (fault === 'changed') {
    const why = 'changed while it was read: is it still being written?';
    return new SourceError('truncated', `${location} ${why}`, { cause: error });
  }
  // Without permission to list, S3 gives the same error whether or not the object exists.
  if (code === 'AccessDenied') {
    const hint = 'without s3:ListBucket, S3 reports a missing object this way too';
    return new SourceError('unreadable', `${message}; ${hint}`, { cause: error });
  }
  const refusal = fault === 'denied' && peer === 'refused' ? 'login-refused' : 'unreadable';
  return new SourceError(code === 'CutOff' ? 'truncated' : refusal, message, { cause: error, peer });
}
