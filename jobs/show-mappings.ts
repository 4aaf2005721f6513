import { exitCode } from '../src/cli/exit-code.js';
import { adviseLoad, describeHotel } from '../src/cli/hotels.js';
import { renderMapping, renderStats } from '../src/cli/mappings.js';
import type { Config } from '../src/config/load.js';
import { neverSynced, wasSynced } from '../src/mappings/copied-hotels.js';
import { hotelToJson } from '../src/mappings/hotels/shown-hotels.js';
import type { MappingSummary, ProviderHotel } from '../src/mappings/mapping-copy.js';
import { toMappingReport, toStatsReport } from '../src/report/mappings.js';
import { showInLine } from '../src/text/visible.js';
import { withReadOnlyLedger } from './parts.js';
import type { Terminal } from './terminal.js';

const nothing: MappingSummary = {
  mappings: 0,
  masterHotels: 0,
  deleted: 0,
  providers: [],
  syncs: [],
  keptSkipped: 0,
  lastSkipped: [],
};

/** `hotel-review mappings show`: exits with 1 if the provider hotel is not in the copy. */
export async function showMapping(config: Config, hotel: ProviderHotel, terminal: Terminal): Promise<number> {
  const reportNone = (notice: string): number => {
    terminal.answer(`${notice}\n`, { ...hotel, serviceId: null });
    return exitCode.failed;
  };
  return withReadOnlyLedger(config, reportNone, async ({ mappings, hotels }) => {
    const found = await mappings.find(hotel);
    if (!found && !(await wasSynced(mappings))) {
      const name = `${showInLine(hotel.providerName)} ${showInLine(hotel.providerHotelId)}`;
      terminal.answer(`${name}: ${neverSynced}. To sync them: ${terminal.command('mappings sync')}\n`, {
        ...{ ...hotel, serviceId: null, copy: 'never-synced' },
      });
      return exitCode.failed;
    }
    if (!found) {
      const { providerName, providerHotelId } = hotel;
      return reportNone(
        `${showInLine(providerName)} ${showInLine(providerHotelId)} is not in the local copy; names and ids must be exactly as the service writes them.`,
      );
    }
    const { mapping, moves } = found;
    const { serviceId } = mapping;
    const [master] = serviceId === undefined ? [] : await hotels.lookUp([serviceId]);
    const content = serviceId === undefined ? [] : describeHotel(master);
    const isKnown = serviceId === undefined || master || (await hotels.latestLoad());
    const advice = isKnown ? [] : adviseLoad(terminal.command);
    terminal.answer(renderMapping(mapping, moves, [...content, ...advice]), {
      ...toMappingReport(mapping, moves),
      hotel: master ? hotelToJson(master) : null,
    });
    return exitCode.done;
  });
}

/** `hotel-review mappings stats` */
export async function showStats(config: Config, terminal: Terminal): Promise<number> {
  const answer = (summary: MappingSummary): number => {
    terminal.answer(renderStats(summary, terminal.command), toStatsReport(summary));
    return exitCode.done;
  };
  return withReadOnlyLedger(
    config,
    () => answer(nothing),
    async ({ mappings }) => answer(await mappings.summarise()),
  );
}
