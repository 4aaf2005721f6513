import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { showInLine } from '../../src/base/foreign-text.js';
import { formatCount, formatCountOf, formatDuration, formatInstant } from '../../src/base/format.js';
import { codeOf, UsageError } from '../../src/base/safe-error.js';
import type { WriteCommand } from '../../src/base/shell.js';
import { renderTable } from '../../src/base/tables.js';
import type { ProviderHotel } from '../../src/booking/booking.js';
import { type WatchReport, watchMappings } from '../../src/cases/follow-mappings.js';
import type { KnownHotel } from '../../src/ledger/hotels.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import {
  type MappingSummary,
  type MappingSync,
  mappingToJson,
  type NewMasterHotel,
  readNewHotels,
  type SyncCounts,
  summaryToJson,
  syncToJson,
} from '../../src/ledger/mappings.js';
import { adviseLoad, describeMapping, neverSynced, wasSynced } from '../../src/mappings/copied-hotels.js';
import { hotelToJson } from '../../src/mappings/hotels/shown-hotels.js';
import { syncMappings } from '../../src/mappings/sync-mappings.js';
import type { CaseMove } from '../../src/rules/case.js';
import type { MappingService } from '../../src/service/operations.js';
import type { App } from '../app.js';
import { clock } from '../clock.js';
import { type AnyCommand, command, option, readSince } from '../command.js';
import { exitCode } from '../exit-code.js';
import { appendNewHotels, followUpSync, writeNewHotels } from '../follow-up.js';

const sync = command({
  summary: 'update the copy: fetch all changes since the last sync, or resume an interrupted one',
  options: {
    since: option(
      '--since <instant>',
      'fetch changes since then, such as 2026-11-20 or 2026-11-20T12:00:00Z',
      { read: readSince },
    ),
    providerFamily: option(
      '--provider-family <name>',
      'only the mappings of this provider (default: of all)',
    ),
    newHotels: option('--new-hotels <file>', 'write the new master hotels to this file, as NDJSON'),
    held: option(
      '--held <file>',
      'a file with the ids of master hotels that you already have, so that they are not listed',
    ),
  },
  examples: `
An interrupted sync is resumed. Afterwards, what moved in the copy is compared
with the bookings whose check-in is today or later: each mapping that was
re-pointed or deleted gets a case. The file of new hotels lists each
master hotel that no earlier such file has listed. The setting
mappings.newHotels names one to which they are always appended.

Examples:
  hotel-review mappings sync --new-hotels new.ndjson
  hotel-review mappings sync --new-hotels new.ndjson --held our-hotels.csv
  hotel-review mappings sync --since 1970-01-01   everything again`,

  run: (app, options) => syncOnce(app, options),
});

interface SyncOptions {
  /** Epoch milliseconds; defaults to the start of the last sync. */
  readonly since?: number | undefined;
  /** Defaults to the configured one. */
  readonly providerFamily?: string | undefined;
  readonly newHotels?: string | undefined;
  readonly held?: string | undefined;
}

/** Updates the local copy, compares what moved with the current and upcoming stays, and lists new master hotels. */
export async function syncOnce(app: App, options: SyncOptions): Promise<number> {
  const held = options.held === undefined ? noHotels : await readHeldHotels(locateFile(options.held, app));
  const file = options.newHotels === undefined ? undefined : locateFile(options.newHotels, app);
  const { mappings: copy } = await app.ledger();
  await app.look({ action: 'sync' });
  const sync = await syncCopy(app, app.mappingService(), options);
  app.endProgress();
  await followUpSync({ ...app, warn: app.say });
  // Before hotels are noted as listed: if it fails, the next sync lists them.
  const watched = await watchCopy(app);
  const { newHotels } = app.config.mappings;
  const configured = newHotels === undefined ? undefined : { name: newHotels, path: newHotels };
  const listed =
    file || configured
      ? await listInFiles(file, configured, app.io.halted, copy, held)
      : await listNewHotels(copy, held);
  return app.answer([...describeSync(sync), ...describeWatch(watched, app.command), ...listed], {
    ...syncToJson(sync),
    newHotelsFile: (file ?? configured)?.name ?? null,
    watch: { checkedMoves: watched.counts.checkedMoves, findings: watched.findings },
  });
}

const noHotels: ReadonlySet<number> = new Set();

/** A file: its name as it was written, for messages, and its absolute path. */
interface GivenFile {
  readonly name: string;
  readonly path: string;
}

function locateFile(name: string, { locate }: App): GivenFile {
  return { name, path: locate(name) };
}

/** The most mappings per page that most accounts allow. */
const pageLimit = 1_000;

/** It ends soon after the app's signal aborts. @throws what `syncMappings` throws */
export async function syncCopy(
  app: App,
  service: MappingService,
  { since, providerFamily }: SyncOptions = {},
): Promise<MappingSync> {
  const { notify, signal } = app;
  const { mappings: copy } = await app.ledger();
  const parts = { service, copy, limit: pageLimit, clock, createSyncId: randomUUID, notify };
  return syncMappings({ since, providerFamily }, parts, signal);
}

/** Compares what moved in the copy with the stays that are upcoming on the account's day. */
export async function watchCopy(app: App): Promise<WatchReport> {
  const { notify, signal } = app;
  return watchMappings({ ledger: await app.ledger(), today: app.today(), clock, notify }, signal);
}

const countNames: Readonly<Record<keyof SyncCounts, string>> = {
  pages: 'pages',
  read: 'read',
  added: 'added',
  moved: 'moved to another master hotel',
  updated: 'changed otherwise',
  deleted: 'deleted',
  unchanged: 'unchanged',
  skipped: 'skipped, because they could not be read',
  newHotels: 'new master hotels',
  restarts: 'begun again',
};

function describeSync({ at, endedAt = at, counts }: MappingSync): string[] {
  const rows = (Object.keys(countNames) as (keyof SyncCounts)[])
    .filter((name) => (name !== 'restarts' && name !== 'skipped') || counts[name] > 0)
    .map((name) => [countNames[name], formatCount(counts[name])]);
  return [`The local copy is up to date, after ${formatDuration(endedAt - at)}.`, renderTable(rows)];
}

/** Rows shown on a terminal; `--json` lists all. */
const findingsShown = 200;

const happened: Readonly<Record<CaseMove, string>> = {
  're-pointed': 're-pointed to another master hotel',
  unmapped: 'its mapping was deleted',
  merged: 'its master hotel was merged',
};

/** What the moves of mappings mean for stays. */
export function describeWatch({ counts, findings }: WatchReport, write: WriteCommand): string[] {
  const { checkedMoves, endangered, bookings, merged, dismissed } = counts;
  if (checkedMoves === 0) return ['No mapping has moved since the last watch.'];
  const checked = `${formatCountOf(checkedMoves, 'move')} of mappings compared with the current and upcoming stays`;
  const rows = findings
    .slice(0, findingsShown)
    .map(({ caseId, providerName, providerHotelId, serviceId, copyServiceId, bookings: stays, move }) => [
      ...[caseId ?? '-', providerName, providerHotelId, serviceId, copyServiceId ?? '-', stays],
      happened[move],
    ]);
  const head = ['case', 'provider', 'hotel id', 'booked as', 'now', 'bookings', 'what happened'];
  return [
    endangered === 0
      ? `${checked}: no booking is in danger.`
      : `${checked}: ${formatCountOf(bookings, 'booking')} may lead to another hotel.`,
    ...(rows.length === 0 ? [] : [renderTable(rows, head)]),
    ...(findings.length > rows.length
      ? [`  … and ${formatCount(findings.length - rows.length)} more; --json lists all`]
      : []),
    ...(merged === 0 ? [] : ['In a merge, two numbers of one hotel became one: these bookings get no case.']),
    ...(dismissed === 0
      ? []
      : [`${formatCountOf(dismissed, 'case')} dismissed: the moves were the first of a merge.`]),
    ...(endangered === 0 ? [] : [`The history of a mapping: ${write('mappings show PROVIDER HOTEL_ID')}`]),
  ];
}

/** Maximum number of new hotels shown without a file. */
const hotelsShown = 20;

/** The first new hotels for the screen, without those that are held. A complete list is not repeated. */
async function listNewHotels(copy: Ledger['mappings'], held: ReadonlySet<number>): Promise<string[]> {
  const hotels: NewMasterHotel[] = [];
  let last = 0;
  for await (const page of readNewHotels(copy)) {
    hotels.push(...page.filter(({ serviceId }) => !held.has(serviceId)));
    if (hotels.length > hotelsShown)
      return [
        ...renderNewHotels(hotels.slice(0, hotelsShown)),
        '  … and more; the next sync with --new-hotels FILE lists all',
      ];
    last = page.at(-1)?.number ?? last;
  }
  if (last > 0) await copy.markNewHotelsTold(last, clock());
  return hotels.length === 0 ? [] : renderNewHotels(hotels);
}

function renderNewHotels(hotels: readonly NewMasterHotel[]): string[] {
  const rows = hotels.map(({ serviceId, providerName, providerHotelId }) => [
    serviceId,
    providerName,
    providerHotelId,
  ]);
  return [
    'master hotels to be created:',
    renderTable(rows, ['ServiceId', 'ProviderName', 'ProviderHotelId']),
  ];
}

/**
 * Lists the new hotels in the file that was named, and in the configured one.
 *
 * @returns for people: where they are listed
 * @throws UsageError when one can't be written
 */
async function listInFiles(
  file: GivenFile | undefined,
  configured: GivenFile | undefined,
  halted: AbortSignal,
  copy: Ledger['mappings'],
  held: ReadonlySet<number>,
): Promise<string[]> {
  if (file) {
    const last = await orUsageError('--new-hotels', file, () =>
      writeNewHotels(file.path, copy, held, halted),
    );
    if (!configured) await copy.markNewHotelsTold(last, clock());
  }
  if (configured)
    await orUsageError('mappings.newHotels', configured, () =>
      appendNewHotels(configured.path, copy, { held, clock }),
    );
  const names = [file, configured].flatMap((one) => one?.name ?? []);
  return [`The master hotels to be created are listed in ${names.join(' and ')}.`];
}

async function orUsageError<T>(setting: string, { name }: GivenFile, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (error instanceof Error && 'code' in error && 'syscall' in error)
      throw new UsageError(
        `${setting}: ${name} can't be written (${error.code}); the copy is up to date, and the next sync with ${setting} lists them`,
      );
    throw error;
  }
}

const endOfCell = /[,;\t|]/;
/** An id, perhaps within quotes. */
const quotedId = /^"?(\d{1,16})"?$/;

/**
 * Reads the ids of the master hotels that the caller already has, one per line: alone, as the first cell of a CSV (the first
 * line may be a header), or as the `ServiceId` of an NDJSON file of new hotels. Blank lines are skipped.
 *
 * @throws UsageError for a file that can't be read, or a line without an id
 */
export async function readHeldHotels({ name, path }: GivenFile): Promise<ReadonlySet<number>> {
  const held = new Set<number>();
  let number = 0;
  try {
    for await (const line of createInterface({ input: createReadStream(path, 'utf8') })) {
      number += 1;
      const text = number === 1 ? line.replace(/^\uFEFF/, '') : line;
      if (text.trim() === '') continue;
      const id = readId(text);
      if (id !== undefined) held.add(id);
      else if (number > 1)
        throw new UsageError(
          `--held: line ${number} of ${name} does not begin with a master hotel's id, a whole number from 1 to 2^53-1`,
        );
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`--held: ${name} can't be read (${codeOf(error) ?? 'unknown'})`);
  }
  if (held.size === 0) throw new UsageError(`--held: ${name} holds no master hotel's id`);
  return held;
}

function readId(line: string): number | undefined {
  const id = line.trimStart().startsWith('{') ? readRecord(line) : Number(readFirstCell(line));
  return typeof id === 'number' && Number.isSafeInteger(id) && id >= 1 ? id : undefined;
}

function readFirstCell(line: string): string | undefined {
  const [cell = ''] = line.trim().split(endOfCell, 1);
  return quotedId.exec(cell.replace(/\s/g, ''))?.[1];
}

function readRecord(line: string): unknown {
  try {
    return (JSON.parse(line) as { readonly ServiceId?: unknown }).ServiceId;
  } catch {
    return undefined;
  }
}

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
        syncs.map((one) => `  ${listSync(one, app.command)}`),
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

function listSync({ scope, at, since, endedAt, counts }: MappingSync, write: WriteCommand): string {
  const what = scope === '' ? 'all providers' : showInLine(scope);
  const skipped = counts.skipped === 0 ? '' : `, ${formatCount(counts.skipped)} skipped`;
  const read = `${formatCount(counts.read)} changes since ${formatInstant(since)}${skipped}`;
  return endedAt === undefined
    ? `${what}: a sync of ${formatInstant(at)} is not finished; to resume it: ${write('mappings sync')}`
    : `${what}: synced at ${formatInstant(endedAt)} (${read})`;
}

export default {
  place: ['mappings', 2],
  summary: "keep a local copy of the account's mappings, and query it",
  examples: `
Examples:
  hotel-review mappings sync                  what changed since the last sync
  hotel-review mappings show Bedlink BL-1042  which master hotel is it?
  hotel-review mappings stats                 how many there are`,
  commands: { sync, show, stats },
} satisfies AnyCommand;
