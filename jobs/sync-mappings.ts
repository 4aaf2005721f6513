import { randomUUID } from 'node:crypto';
import { businessDayAt } from '../src/booking/business-day.js';
import { type WatchLedger, type WatchReport, watchMappings } from '../src/cases/watch/watch-mappings.js';
import type { SyncOptions } from '../src/cli/commands/mappings.js';
import { exitCode } from '../src/cli/exit-code.js';
import { renderNewHotels, renderSync, writeNewHotels } from '../src/cli/mappings.js';
import { renderWatch } from '../src/cli/watch.js';
import type { Config } from '../src/config/load.js';
import type { NotifyAll } from '../src/events/events.js';
import type { MappingService } from '../src/mapping-service/operations.js';
import {
  type MappingCopy,
  type MappingSync,
  type NewMasterHotel,
  readNewHotels,
} from '../src/mappings/mapping-copy.js';
import type { NotifySync } from '../src/mappings/sync-events.js';
import { syncMappings } from '../src/mappings/sync-mappings.js';
import { toSyncReport } from '../src/report/mappings.js';
import { recordLook } from './audit.js';
import { clock } from './clock.js';
import { followUpSync } from './follow-up.js';
import { readHeldHotels } from './held-hotels.js';
import { openLedger, openMappingService } from './parts.js';
import type { Terminal } from './terminal.js';

const noHotels: ReadonlySet<number> = new Set();

function placeOf(name: string, { locate }: Pick<Terminal, 'locate'>) {
  return { name, path: locate(name) };
}

/** The most mappings per page that every account allows. */
const pageLimit = 1_000;
/** Maximum number of new hotels shown without a file. */
const hotelsShown = 20;

/** `hotel-review mappings sync`: updates the local copy, compares what moved with the current and upcoming stays, and lists new master hotels. */
export async function syncOnce(config: Config, options: SyncOptions, terminal: Terminal): Promise<number> {
  const { newHotels, held: heldFile } = options;
  const held = heldFile === undefined ? noHotels : await readHeldHotels(placeOf(heldFile, terminal));
  const ledger = await openLedger(config);
  const service = openMappingService(config);
  try {
    await recordLook(ledger, { action: 'sync' }, terminal);
    const sync = await syncCopy(options, { ...terminal, ledger, service }, terminal.signal);
    terminal.endProgress();
    const { notify, say: warn, signal, command } = terminal;
    await followUpSync({ ledger: async () => ledger, notify, warn });
    // Before hotels are noted as listed: if it fails, the next sync lists them.
    const watched = await watchCopy(config, { ledger, notify }, signal);
    const listed = await listNewHotels(ledger.mappings, {
      ...(newHotels !== undefined && { file: placeOf(newHotels, terminal) }),
      held,
    });
    const { counts, findings } = watched;
    terminal.answer(
      renderSync(sync) + renderWatch(watched, command) + renderNewHotels(listed.hotels, listed),
      {
        ...toSyncReport(sync),
        newHotelsFile: newHotels ?? null,
        watch: { checkedMoves: counts.checkedMoves, findings },
      },
    );
    return exitCode.done;
  } finally {
    terminal.endProgress();
    await Promise.all([service.close(), ledger.close()]);
  }
}

export interface SyncDeps {
  readonly ledger: { readonly mappings: MappingCopy };
  readonly service: Pick<MappingService, 'getMappings'>;
  readonly notify: NotifySync;
}

export function syncCopy(
  { since, providerFamily }: SyncOptions,
  { ledger, service, notify }: SyncDeps,
  signal: AbortSignal,
): Promise<MappingSync> {
  const parts = { service, copy: ledger.mappings, limit: pageLimit, clock, createSyncId: randomUUID, notify };
  return syncMappings({ since, providerFamily }, parts, signal);
}

/** Compares what moved in the copy with the stays that are upcoming on the account's day. */
export function watchCopy(
  { timezone }: Config,
  { ledger, notify }: { readonly ledger: WatchLedger; readonly notify: NotifyAll },
  signal: AbortSignal,
): Promise<WatchReport> {
  const today = businessDayAt(new Date(clock()), timezone).iso;
  return watchMappings({ ledger, today, clock, notify }, signal);
}

interface HotelListing {
  readonly file?: { readonly name: string; readonly path: string };
  /** Those that are not to be listed. */
  readonly held: ReadonlySet<number>;
}

/** Writes all new hotels to a file, or returns the first ones for the screen. A complete list is not repeated. */
async function listNewHotels(copy: MappingCopy, { file, held }: HotelListing) {
  if (file !== undefined) {
    const last = await writeNewHotels(file, readNewHotels(copy), held);
    await copy.markNewHotelsTold(last, clock());
    return { hotels: [], more: false, file: file.name };
  }
  const hotels: NewMasterHotel[] = [];
  let last = 0;
  for await (const page of readNewHotels(copy)) {
    for (const hotel of page) {
      if (held.has(hotel.serviceId)) continue;
      if (hotels.length === hotelsShown) return { hotels, more: true };
      hotels.push(hotel);
    }
    last = page.at(-1)?.number ?? last;
  }
  if (last > 0) await copy.markNewHotelsTold(last, clock());
  return { hotels, more: false };
}
