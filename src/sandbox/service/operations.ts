import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Operation } from '../common/faults.js';
import { Refusal } from '../common/refusal.js';
import type { Exports } from '../export/exports.js';
import type { FileReview } from '../file-review/file-review.js';
import type { BookedHotel } from '../outbox/outbox.js';
import { isCorrectlyMapped, type World } from '../world/world.js';
import { createMappingPages } from './mapping-pages.js';
import { findMediaProblem, maxBodyBytes, parseReview, readBody } from './review-body.js';

export interface OperationsOptions {
  readonly world: World;
  /** The most mappings that a page may have; 1,000 by default. */
  readonly maxLimit?: number | undefined;
  readonly exports: Pick<Exports, 'accept'>;
  readonly fileReview: Pick<FileReview, 'accept'>;
  readonly clock: () => number;
}

/** The outcome of a call, without guests' names, keys and addresses. */
export type CallOutcome =
  | {
      readonly operation: 'by-body' | 'by-file';
      /** Accepted for review: bookings of the body, or rows of the file. */
      readonly bookings: number;
      /** Bookings of a body with an incorrect mapping; those of a file are known with its result. */
      readonly incorrect: number;
    }
  | {
      readonly operation: 'mappings';
      /** On the page. */
      readonly mappings: number;
      readonly isLastPage: boolean;
    }
  | { readonly operation: 'brands'; readonly brands: number }
  | { readonly operation: 'export'; readonly isAccepted: boolean };

/** The outcome of a call that had no effect. */
export const noOutcome: { readonly [Name in Operation]: CallOutcome } = {
  'by-body': { operation: 'by-body', bookings: 0, incorrect: 0 },
  'by-file': { operation: 'by-file', bookings: 0, incorrect: 0 },
  mappings: { operation: 'mappings', mappings: 0, isLastPage: false },
  brands: { operation: 'brands', brands: 0 },
  export: { operation: 'export', isAccepted: false },
};

export interface PerformedCall {
  readonly message: string;
  /** Precedes the envelope's fields. */
  readonly content?: object;
  readonly outcome: CallOutcome;
  /** Bookings to send an e-mail about. */
  readonly incorrect?: readonly BookedHotel[];
  /** To be called when the call has ended, answered or not. */
  readonly end?: () => void;
}

/** Undefined when the client left before its body was complete. @throws Refusal */
type Perform = (
  request: IncomingMessage,
  parameters: URLSearchParams,
) => PerformedCall | undefined | Promise<PerformedCall | undefined>;

/** A page takes a moment, so that parallel calls can be noticed. */
const pageMs = 2;

export function createOperations(options: OperationsOptions): { readonly [Name in Operation]: Perform } {
  const { world, maxLimit = 1_000, exports, fileReview, clock } = options;
  const pages = createMappingPages(world, clock, maxLimit);
  const syncing = new Set<string>();

  return {
    /** Accepts the bookings of a body and verifies each. (Spec 4.2.) */
    async 'by-body'(request) {
      const problem = findMediaProblem(request.headers);
      if (problem !== undefined) throw new Refusal(2002, problem, 415);
      const body = await readBody(request);
      if (body === undefined) return undefined;
      if (body === 'too-large')
        throw new Refusal(
          2002,
          `The body is longer than ${maxBodyBytes} bytes: send the bookings in several calls.`,
          413,
        );
      const hotels = parseReview(body);
      const incorrect = hotels.filter((hotel) => !isCorrectlyMapped(hotel, world));
      return {
        message: 'The hotels were accepted for review.',
        outcome: { operation: 'by-body', bookings: hotels.length, incorrect: incorrect.length },
        incorrect,
      };
    },

    /** Accepts an uploaded file for review; incorrect mappings are reported with its result. (Spec 4.3.) */
    async 'by-file'(_, parameters) {
      const bookings = await fileReview.accept(parameters.get('ftpFilePath') ?? undefined);
      return {
        message: 'The file was accepted for review.',
        outcome: { operation: 'by-file', bookings, incorrect: 0 },
      };
    },

    /** Gives a page of changed mappings, to one call of a sync cycle at a time. (Spec 4.1.) */
    async mappings({ headers }, parameters) {
      const query = pages.readQuery(headers, parameters);
      if (syncing.has(query.syncId))
        throw new Refusal(2030, 'Another call of this syncId is in progress: send one call at a time.');
      syncing.add(query.syncId);
      const end = () => void syncing.delete(query.syncId);
      try {
        await delay(pageMs);
        const content = pages.readPage(query);
        const { Mappings, ResumeKey } = content;
        return {
          ...{ message: 'The mappings are given.', content, end },
          outcome: { operation: 'mappings', mappings: Mappings.length, isLastPage: ResumeKey === null },
        };
      } catch (error) {
        end();
        throw error;
      }
    },

    /** Gives the complete list of brands. (Spec 4.4.) */
    brands() {
      const HotelBrands = world.brands.map(({ chainName: _, ...brand }) => brand);
      return {
        ...{ message: 'The master hotel brands are given.', content: { HotelBrands } },
        outcome: { operation: 'brands', brands: HotelBrands.length },
      };
    },

    /** Accepts an export; the files follow. (Spec 4.5.) */
    export(_, parameters) {
      exports.accept(parameters);
      return {
        message: 'The mappings are being exported.',
        outcome: { operation: 'export', isAccepted: true },
      };
    },
  };
}
