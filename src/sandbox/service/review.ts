import type { IncomingMessage } from 'node:http';
import type { FileReview } from '../file-review/file-review.js';
import { isCorrectlyMapped } from '../verify.js';
import type { HotelDirectory } from '../world.js';
import type { Answer } from './answer.js';
import { findMediaObjection } from './media-type.js';
import { noOutcome, type Performed } from './operation.js';
import { readBody } from './read-body.js';
import { readReview } from './read-review.js';

/** How long a body may be, in bytes. (Assumed: the specification gives no limit.) */
export const maxBodyBytes = 64 * 1024 * 1024;

/** Takes the bookings of a body and verifies each. Undefined when the client left before the body was whole. (Spec 4.2.) */
export async function reviewByBody(
  request: IncomingMessage,
  { world, masterIdName }: { readonly world: HotelDirectory; readonly masterIdName: string },
): Promise<Performed | undefined> {
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
      const { hotels } = review;
      const incorrect = hotels.filter((hotel) => !isCorrectlyMapped(hotel, world));
      return {
        answer: { kind: 'success', message: 'The hotels were taken for review.' },
        outcome: { operation: 'by-body', bookings: hotels.length, incorrect: incorrect.length },
        incorrect,
      };
    }
  }

  function untaken(answer: Answer): Performed {
    return { answer, outcome: noOutcome('by-body') };
  }
}

/** Has an uploaded file reviewed: how many of its bookings are wrongly mapped is told with its result. (Spec 4.3.) */
export async function reviewByFile(
  parameters: URLSearchParams,
  fileReview: Pick<FileReview, 'take'>,
): Promise<Performed> {
  const operation = 'by-file';
  const taken = await fileReview.take(parameters.get('ftpFilePath') ?? undefined);
  switch (taken.kind) {
    case 'taken':
      return {
        answer: { kind: 'success', message: 'The file was taken for review.' },
        outcome: { operation, bookings: taken.rows, incorrect: 0 },
      };
    case 'refused':
      return { answer: { ...taken, kind: 'refusal' }, outcome: noOutcome(operation) };
  }
}
