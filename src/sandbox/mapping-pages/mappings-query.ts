import type { IncomingHttpHeaders } from 'node:http';
import { readInstant } from '../../booking/business-day.js';
import { type Refusal, refusal } from '../common/answer.js';

/** The parameters of Get Mappings. (Spec 4.1.) */
export interface MappingsQuery {
  readonly kind: 'query';
  readonly syncId: string;
  /** The lower bound of changes, in epoch milliseconds. */
  readonly since: number;
  readonly providerFamily: string | undefined;
  readonly resumeKey: string | undefined;
  readonly limit: number;
}

/** As observed in a live deployment. (Design 6.) */
const defaultLimit = 10;
export const usualMaxLimit = 1_000;
const maxSyncIdLength = 200;

const utcInstant = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}(?::\d{2})?)(?:[.,](\d{1,9}))?(?:Z|\+00:00)$/;

/**
 * Reads the header and the parameters; the first fault refuses the call. A blank parameter counts as not given.
 *
 * @param providers the known families
 * @param maxLimit the most mappings that a page may have
 */
export function readMappingsQuery(
  headers: IncomingHttpHeaders,
  parameters: URLSearchParams,
  { providers, maxLimit }: { readonly providers: readonly string[]; readonly maxLimit: number },
): MappingsQuery | Refusal {
  const { syncid: syncId } = headers;
  if (typeof syncId !== 'string' || syncId.trim() === '')
    return refusal(2016, 'The header syncId is missing: all calls of a sync cycle share one.');
  if (syncId.length > maxSyncIdLength)
    return refusal(2016, `The header syncId: expected at most ${maxSyncIdLength} characters.`);

  const written = read(parameters, 'lastUpdateDateTime');
  if (written === undefined)
    return refusal(2017, 'lastUpdateDateTime is missing: expected an ISO 8601 date-time in UTC.');
  const since = readUtcInstant(written);
  if (since === undefined)
    return refusal(
      2007,
      'lastUpdateDateTime: expected an ISO 8601 date-time in UTC such as 2026-11-20T00:00:00Z (a plus sign is written %2B).',
    );

  const limit = readLimit(read(parameters, 'limit'), maxLimit);
  if (limit === undefined) return refusal(2012, `limit: expected an integer from 1 to ${maxLimit}.`);

  const providerFamily = read(parameters, 'providerFamily');
  if (providerFamily !== undefined && !providers.includes(providerFamily))
    return refusal(2011, `providerFamily: expected one of ${providers.join(', ')}, in exact case.`);
  return { kind: 'query', syncId, since, providerFamily, resumeKey: read(parameters, 'resumeKey'), limit };
}

/** Epoch milliseconds, rounded down so that no change at the bound is missed. */
function readUtcInstant(text: string): number | undefined {
  const [, day, time, fraction = ''] = utcInstant.exec(text) ?? [];
  if (day === undefined || time === undefined) return undefined;
  const instant = readInstant(`${day}T${time.padEnd(8, ':00')}.${fraction.slice(0, 3).padEnd(3, '0')}Z`);
  return Number.isNaN(instant) ? undefined : instant;
}

function readLimit(text: string | undefined, maxLimit: number): number | undefined {
  if (text === undefined) return defaultLimit;
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  return limit >= 1 && limit <= maxLimit ? limit : undefined;
}

function read(parameters: URLSearchParams, name: string): string | undefined {
  const value = parameters.get(name);
  return value === null || value.trim() === '' ? undefined : value;
}
