import type { IncomingMessage } from 'node:http';
import type { FileReview } from '../file-review/file-review.js';
import type { IncorrectMapping } from '../outbox.js';
import { isCorrectlyMapped } from '../verify.js';
import type { World } from '../world.js';
import type { Answer } from './answer.js';
import { findMediaObjection } from './media-type.js';
import { readBody } from './read-body.js';
import { readReview } from './read-review.js';

/** What became of a call that was looked at properly. */
export interface Reviewed {
  readonly answer: Answer;
  /** Bookings, or rows of a file, that were taken; none when the call was refused. */
  readonly bookings: number;
  readonly incorrect: readonly IncorrectMapping[];
}

/** How long a body may be, in bytes. (Assumed: the specification gives no limit.) */
export const maxBodyBytes = 64 * 1024 * 1024;

/** Takes the bookings of a body and verifies each. Undefined when the client left before the body was whole. (Spec 4.2.) */
export async function reviewByBody(
  request: IncomingMessage,
  { world, masterIdName }: { readonly world: World; readonly masterIdName: string },
): Promise<Reviewed | undefined> {
  const objection = findMediaObjection(request.headers);
  if (objection !== undefined) return untaken({ kind: 'error', httpStatus: 415, message: objection });
  const reading = await readBody(request, maxBodyBytes);
  switch (reading.kind) {
    case 'cut-off':
      return undefined;
    case 'too-large':
      return untaken({
        kind: 'error',
        httpStatus: 413,
        message: `The body is longer than ${maxBodyBytes} bytes: send the bookings in several calls.`,
      });
    case 'whole': {
      const review = readReview(reading.body, masterIdName);
      if (review.kind === 'refused') return untaken({ ...review, kind: 'refusal' });
      return {
        answer: { kind: 'success', message: 'The hotels were taken for review.' },
        bookings: review.hotels.length,
        incorrect: review.hotels.filter((hotel) => !isCorrectlyMapped(hotel, world)),
      };
    }
  }
}

/** Has an uploaded file reviewed: how many of its bookings are wrongly mapped is told with its result. (Spec 4.3.) */
export async function reviewByFile(
  ftpFilePath: string | undefined,
  fileReview: Pick<FileReview, 'take'>,
): Promise<Reviewed> {
  const taken = await fileReview.take(ftpFilePath);
  switch (taken.kind) {
    case 'taken':
      return {
        answer: { kind: 'success', message: 'The file was taken for review.' },
        bookings: taken.rows,
        incorrect: [],
      };
    case 'refused':
      return untaken({ ...taken, kind: 'refusal' });
  }
}

function untaken(answer: Answer): Reviewed {
  return { answer, bookings: 0, incorrect: [] };
}
