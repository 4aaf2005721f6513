import * as z from 'zod';
import { mappingStates } from '../../cases/case.js';
import type { CaseReader } from '../../cases/case-store.js';
import type { HotelReader } from '../../mappings/hotels/hotel-contents.js';
import type {
  CopiedMapping,
  MappingMove,
  MappingReader,
  ProviderHotel,
} from '../../mappings/mapping-copy.js';
import { rememberSummary } from '../../mappings/summary-memory.js';
import { toHotelReport } from '../../report/hotels.js';
import { toMappingReport, toStatsReport } from '../../report/mappings.js';
import { searchField } from '../routing/fields.js';
import { definePage, type Page } from '../routing/route.js';
import { hotelReport, mappingReport, statsReport } from './mapping-schema.js';
import { renderMappingsPage } from './mappings-view.js';

export interface MappingParts {
  readonly ledger: {
    readonly mappings: Pick<MappingReader, 'find' | 'listSyncs' | 'summarise'>;
    readonly hotels: Pick<HotelReader, 'lookUp'>;
    readonly cases: Pick<CaseReader, 'findByKeys'>;
  };
}

const mappingsData = z.object({
  /** The hotel that was asked for; null if none was. */
  asked: z.object({ providerName: z.string(), providerHotelId: z.string() }).nullable(),
  /** As `mappings show --json` prints it; null if the copy has never seen it. */
  mapping: mappingReport.extend({ hotel: hotelReport.nullable() }).nullable(),
  /** The cases of this hotel under any master hotel that it had. */
  cases: z.array(z.object({ id: z.int(), state: z.enum(mappingStates), serviceId: z.number() })),
  /** As `mappings stats --json` prints it. */
  copy: statsReport,
});

export type MappingsData = z.output<typeof mappingsData>;

/** Looks up a provider's hotel, and shows how old the copy is and what it holds. */
export function createMappingsPage({ ledger }: MappingParts): Page {
  const summarise = rememberSummary(ledger);
  return definePage({
    path: '/mappings',
    permission: 'look',
    summary: 'The local copy of the mappings: one of them with its history, and what the copy holds',
    input: z.object({ provider: searchField, hotel: searchField }),
    data: mappingsData,
    async read({ provider, hotel }) {
      const copy = toStatsReport(await summarise());
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
          ...toMappingReport(found.mapping, found.moves),
          hotel: master ? toHotelReport(master) : null,
        },
        cases: await findCases(asked, found),
      };
    },
    render: renderMappingsPage,
  });

  async function findCases(
    asked: ProviderHotel,
    { mapping, moves }: { readonly mapping: CopiedMapping; readonly moves: readonly MappingMove[] },
  ): Promise<MappingsData['cases']> {
    const masters = new Set([mapping.serviceId, ...moves.flatMap(({ from, to }) => [from, to])]);
    const keys = [...masters].flatMap((serviceId) =>
      serviceId === undefined ? [] : { ...asked, serviceId },
    );
    const found = await ledger.cases.findByKeys(keys.slice(-keysAtOnce));
    return found.flatMap((one) => (one ? { id: one.id, state: one.state, serviceId: one.serviceId } : []));
  }
}

/** The most that `findByKeys` takes. */
const keysAtOnce = 1_000;
