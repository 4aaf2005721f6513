import * as z from 'zod';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import {
  type CopiedMapping,
  type MappingMove,
  type MappingSummary,
  mappingToJson,
  type ProviderHotel,
  summaryToJson,
} from '../../ledger/mappings.js';
import { hotelToJson } from '../../mappings/hotels/shown-hotels.js';
import { rememberSummary } from '../../mappings/summary-memory.js';
import { searchField } from '../fields.js';
import { definePage, type Page } from '../page.js';
import { renderMappingsPage } from './mappings-view.js';

export interface MappingParts {
  readonly ledger: ReadOnlyLedger;
}

/** Looks up a provider's hotel, and shows how old the copy is and what it holds. */
export function createMappingsPage({ ledger }: MappingParts): Page {
  const summarise = rememberSummary(ledger);
  return definePage({
    path: '/mappings',
    permission: 'look',
    input: z.object({ provider: searchField, hotel: searchField }),
    read: (input) => readMappings(ledger, summarise, input),
    render: renderMappingsPage,
  });
}

async function readMappings(
  ledger: MappingParts['ledger'],
  summarise: () => Promise<MappingSummary>,
  { provider, hotel }: { readonly provider?: string | undefined; readonly hotel?: string | undefined },
) {
  /** As `mappings stats --json` prints it. */
  const copy = summaryToJson(await summarise());
  const none = { asked: null, mapping: null, cases: [], copy };
  if (provider === undefined && hotel === undefined) return none;
  const asked = { providerName: provider ?? '', providerHotelId: hotel ?? '' };
  const found = await ledger.mappings.find(asked);
  if (!found) return { ...none, asked };
  const { serviceId } = found.mapping;
  const [master] = serviceId === undefined ? [] : await ledger.hotels.lookUp([serviceId]);
  return {
    ...{ asked, copy },
    mapping: {
      ...mappingToJson(found.mapping, found.moves),
      hotel: master ? hotelToJson(master) : null,
    },
    cases: await findCases(ledger, asked, found),
  };
}

export type MappingsData = Awaited<ReturnType<typeof readMappings>>;

/** The cases of a hotel under any master hotel that it had. */
async function findCases(
  { cases }: MappingParts['ledger'],
  asked: ProviderHotel,
  { mapping, moves }: { readonly mapping: CopiedMapping; readonly moves: readonly MappingMove[] },
) {
  const masters = new Set([mapping.serviceId, ...moves.flatMap(({ from, to }) => [from, to])]);
  const keys = [...masters].flatMap((serviceId) => (serviceId === undefined ? [] : { ...asked, serviceId }));
  const found = await cases.findByKeys(keys);
  return found.flatMap((one) => (one ? { id: one.id, state: one.state, serviceId: one.serviceId } : []));
}
