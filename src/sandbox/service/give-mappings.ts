import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Brand } from '../brands.js';
import type { MappingPages } from '../mapping-pages/mapping-pages.js';
import type { Turns } from '../mapping-pages/turns.js';
import { noOutcome, type Performed } from './operation.js';
import { refusal } from './refusal.js';

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
