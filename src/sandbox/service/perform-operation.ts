import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, refusal } from '../common/answer.js';
import type { FileReview } from '../file-review/file-review.js';
import { createMappingPages, type MappingPagesOptions } from '../mapping-pages/mapping-pages.js';
import { readMappingsQuery, usualMaxLimit } from '../mapping-pages/mappings-query.js';
import type { Brand } from '../world/hotel-content.js';
import { type HotelDirectory, isCorrectlyMapped } from '../world/world.js';
import { findMediaProblem, parseReview, readBody } from './review-body.js';
import { emptyOutcome, type PerformedCall } from './service-event.js';

/** Limit for a body. (Assumed: the specification gives none.) */
export const maxBodyBytes = 64 * 1024 * 1024;
/** A page takes a moment, so that parallel calls can be noticed. */
const pageMs = 2;

/**
 * Accepts the bookings of a body and verifies each. (Spec 4.2.)
 *
 * @returns undefined when the client left before the body was complete
 */
export async function reviewByBody(
  request: IncomingMessage,
  { world, masterIdName }: { readonly world: HotelDirectory; readonly masterIdName: string },
): Promise<PerformedCall | undefined> {
  const reject = (answer: Answer): PerformedCall => ({ answer, outcome: emptyOutcome('by-body') });
  const problem = findMediaProblem(request.headers);
  if (problem !== undefined) return reject({ kind: 'error', httpStatus: 415, message: problem });
  const reading = await readBody(request, maxBodyBytes);
  switch (reading.kind) {
    case 'cut-off':
      return undefined;
    case 'too-large':
      return reject({
        kind: 'error',
        httpStatus: 413,
        message: `The body is longer than ${maxBodyBytes} bytes: send the bookings in several calls.`,
      });
    case 'complete': {
      const review = parseReview(reading.body, masterIdName);
      if (review.kind === 'refusal') return reject(review);
      const { hotels } = review;
      const incorrect = hotels.filter((hotel) => !isCorrectlyMapped(hotel, world));
      return {
        answer: { kind: 'success', message: 'The hotels were accepted for review.' },
        outcome: { operation: 'by-body', bookings: hotels.length, incorrect: incorrect.length },
        incorrect,
      };
    }
  }
}

/** Accepts an uploaded file for review; incorrect mappings are reported with its result. (Spec 4.3.) */
export async function reviewByFile(
  parameters: URLSearchParams,
  fileReview: Pick<FileReview, 'accept'>,
): Promise<PerformedCall> {
  const operation = 'by-file';
  const answer = await fileReview.accept(parameters.get('ftpFilePath') ?? undefined);
  switch (answer.kind) {
    case 'accepted':
      return {
        answer: { kind: 'success', message: 'The file was accepted for review.' },
        outcome: { operation, bookings: answer.rows, incorrect: 0 },
      };
    case 'refusal':
      return { answer, outcome: emptyOutcome(operation) };
  }
}

/** Creates the operation that gives a page of changed mappings (spec 4.1), to one call of a sync cycle at a time. */
export function createMappingsResponder(
  options: MappingPagesOptions & { readonly maxLimit?: number | undefined },
) {
  const readPage = createMappingPages(options);
  const syncing = new Set<string>();

  return async (headers: IncomingHttpHeaders, parameters: URLSearchParams): Promise<PerformedCall> => {
    const outcome = emptyOutcome('mappings');
    const query = readMappingsQuery(headers, parameters, {
      providers: options.world.providers,
      maxLimit: options.maxLimit ?? usualMaxLimit,
    });
    if (query.kind === 'refusal') return { answer: query, outcome };
    const { syncId } = query;
    if (syncing.has(syncId))
      return {
        answer: refusal(2030, 'Another call of this syncId is in progress: send one call at a time.'),
        outcome,
      };
    syncing.add(syncId);
    const end = () => void syncing.delete(syncId);
    await delay(pageMs);
    const page = readPage(query);
    if (page.kind === 'refusal') return { answer: page, outcome, end };
    const { resumeKey: ResumeKey, mappings: Mappings } = page;
    return {
      answer: { kind: 'success', message: 'The mappings are given.', content: { ResumeKey, Mappings } },
      outcome: { operation: 'mappings', mappings: Mappings.length, isLastPage: ResumeKey === null },
      end,
    };
  };
}

/** Gives the complete list of brands. (Spec 4.4.) */
export function respondWithBrands(brands: readonly Brand[]): PerformedCall {
  const HotelBrands = brands.map(({ Id, BrandCode, BrandName, ChainId }) => ({
    ...{ Id, BrandCode, BrandName, ChainId },
  }));
  return {
    answer: { kind: 'success', message: 'The master hotel brands are given.', content: { HotelBrands } },
    outcome: { operation: 'brands', brands: HotelBrands.length },
  };
}
