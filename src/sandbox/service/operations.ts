import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, refusal } from '../common/answer.js';
import type { FileReview } from '../file-review/file-review.js';
import type { MappingPages, Turns } from '../mapping-pages/mapping-pages.js';
import type { Brand } from '../world/hotel-content.js';
import { type HotelDirectory, isCorrectlyMapped } from '../world/world.js';
import { findMediaObjection, readBody, readReview } from './review-body.js';
import { noOutcome, type Performed } from './service-event.js';

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

/** A page takes a moment, or calls in parallel would not be noticed. */
const pageMs = 2;

/** Gives a page of the mappings that changed. (Spec 4.1.) */
export async function giveMappings(
  headers: IncomingHttpHeaders,
  parameters: URLSearchParams,
  { pages, turns }: { readonly pages: MappingPages; readonly turns: Turns },
): Promise<Performed> {
  const nothing = noOutcome('mappings');
  const query = pages.readQuery(headers, parameters);
  if (query.kind === 'refusal') return { answer: query, outcome: nothing };
  const end = turns.begin(query.syncId);
  if (!end)
    return {
      answer: refusal(2030, 'Another call of this syncId is under way: call one after another.'),
      outcome: nothing,
    };
  await delay(pageMs);
  const page = pages.read(query);
  if (page.kind === 'refusal') return { answer: page, outcome: nothing, end };
  const { resumeKey: ResumeKey, mappings: Mappings } = page;
  return {
    answer: { kind: 'success', message: 'The mappings are given.', content: { ResumeKey, Mappings } },
    outcome: { operation: 'mappings', mappings: Mappings.length, isLastPage: ResumeKey === null },
    end,
  };
}

/** Gives the complete list of the brands. (Spec 4.4.) */
export function giveBrands(brands: readonly Brand[]): Performed {
  const HotelBrands = brands.map(({ Id, BrandCode, BrandName, ChainId }) => ({
    ...{ Id, BrandCode, BrandName, ChainId },
  }));
  return {
    answer: { kind: 'success', message: 'The master hotel brands are given.', content: { HotelBrands } },
    outcome: { operation: 'brands', brands: HotelBrands.length },
  };
}
