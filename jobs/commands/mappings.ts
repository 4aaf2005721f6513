import { showInLine } from '../../src/base/foreign-text.js';
import { formatCount, formatInstant } from '../../src/base/format.js';
import type { WriteCommand } from '../../src/base/shell.js';
import { renderTable } from '../../src/base/tables.js';
import type { ProviderHotel } from '../../src/booking/booking.js';
import type { KnownHotel } from '../../src/ledger/hotels.js';
import {
  type MappingSummary,
  type MappingSync,
  mappingToJson,
  summaryToJson,
} from '../../src/ledger/mappings.js';
import { adviseLoad, neverSynced, wasSynced } from '../../src/mappings/copied-hotels.js';
import { describeMapping } from '../../src/mappings/describe-mapping.js';
import { hotelToJson } from '../../src/mappings/hotels/shown-hotels.js';
import { command, commandGroup } from '../command.js';
import { exitCode } from '../exit-code.js';
import sync from '../mappings-sync.js';

const show = command({
  summary: "show the master hotel of a provider's hotel, and earlier ones",
  usage: '<provider> <hotel-id>',
  arguments: (providerName: string, providerHotelId: string): ProviderHotel => ({
    providerName,
    providerHotelId,
  }),
  examples: `
Examples:
  hotel-review mappings show Bedlink BL-1042
  hotel-review mappings show "Room & Co" 00007X --json`,

  async run(app, { providerName, providerHotelId }) {
    const hotel = { providerName, providerHotelId };
    const name = `${showInLine(providerName)} ${showInLine(providerHotelId)}`;
    const none = { ...hotel, serviceId: null };
    const ledger = await app.findLedger();
    if (!ledger) return app.answerNone(none);
    const { mappings, hotels } = ledger;
    const found = await mappings.find(hotel);
    if (!found && !(await wasSynced(mappings)))
      return app.answer(
        `${name}: ${neverSynced}. To sync them: ${app.command('mappings sync')}`,
        { ...none, copy: 'never-synced' },
        exitCode.failed,
      );
    if (!found)
      return app.answerNone(
        none,
        `${name} is not in the local copy; names and ids must be exactly as the service writes them.`,
      );

    const { mapping, moves } = found;
    const { serviceId } = mapping;
    const [master] = serviceId === undefined ? [] : await hotels.lookUp([serviceId]);
    const content = serviceId === undefined ? [] : describeHotel(master);
    const isKnown = serviceId === undefined || master || (await hotels.latestLoad());
    const advice = isKnown ? [] : adviseLoad(app.command);
    return app.answer(describeMapping(mapping, moves, [...content, ...advice]), {
      ...mappingToJson(mapping, moves),
      hotel: master ? hotelToJson(master) : null,
    });
  },
});

function describeHotel(hotel: KnownHotel | undefined): string[] {
  if (!hotel) return ['  hotel: unknown'];
  const { address, city, country, coordinates, phones } = hotel;
  const place = [address, city, country].filter((part) => part !== undefined);
  return [
    `  hotel: ${hotel.name === undefined ? 'without a name' : showInLine(hotel.name)}`,
    ...(place.length === 0 ? [] : [`  address: ${showInLine(place.join(', '))}`]),
    `  coordinates: ${coordinates ? `${coordinates.latitude.toFixed(6)}, ${coordinates.longitude.toFixed(6)}` : 'unknown'}`,
    `  phone: ${phones === undefined ? 'unknown' : showInLine(phones)}`,
  ];
}

/** How many skipped records are shown to a person. */
const skippedShown = 5;

const nothing: MappingSummary = {
  mappings: 0,
  masterHotels: 0,
  deleted: 0,
  providers: [],
  syncs: [],
  keptSkipped: 0,
  lastSkipped: [],
};

const stats = command({
  summary: 'count the mappings in the copy by provider, and show when it was synced',
  async run(app) {
    const ledger = await app.findLedger();
    const summary = ledger ? await ledger.mappings.summarise() : nothing;
    const { mappings, masterHotels, deleted, providers, syncs, keptSkipped, lastSkipped } = summary;
    const json = summaryToJson(summary);
    if (syncs.length === 0)
      return app.answer(`There is no local copy yet. To create one: ${app.command('mappings sync')}`, json);
    return app.answer(
      [
        renderTable([
          ['mappings', formatCount(mappings)],
          ['master hotels', formatCount(masterHotels)],
          ['deleted mappings', formatCount(deleted)],
        ]),
        providers.length > 0 &&
          renderTable(
            providers.map(({ providerName, mappings: count }) => [providerName, formatCount(count)]),
            ['provider', 'mappings'],
          ),
        syncs.map((one) => `  ${describeSync(one, app.command)}`),
        keptSkipped > 0 && [
          `skipped, because they could not be read: ${formatCount(keptSkipped)} (the newest, with the record: ${app.command('mappings stats --json')})`,
          ...lastSkipped
            .slice(0, skippedShown)
            .map(({ seenAt, reason }) => `  ${formatInstant(seenAt)}: ${reason}`),
        ],
      ],
      json,
    );
  },
});

function describeSync({ scope, at, since, endedAt, counts }: MappingSync, write: WriteCommand): string {
  const what = scope === '' ? 'all providers' : showInLine(scope);
  const skipped = counts.skipped === 0 ? '' : `, ${formatCount(counts.skipped)} skipped`;
  const read = `${formatCount(counts.read)} changes since ${formatInstant(since)}${skipped}`;
  return endedAt === undefined
    ? `${what}: a sync of ${formatInstant(at)} is not finished; to resume it: ${write('mappings sync')}`
    : `${what}: synced at ${formatInstant(endedAt)} (${read})`;
}

export default commandGroup({
  place: ['mappings', 2],
  summary: "keep a local copy of the account's mappings, and query it",
  examples: `
Examples:
  hotel-review mappings sync                  what changed since the last sync
  hotel-review mappings show Bedlink BL-1042  which master hotel is it?
  hotel-review mappings stats                 how many there are`,
  commands: { sync, show, stats },
});
