import { randomUUID } from 'node:crypto';
import type { SyncOptions } from '../src/cli/commands/mappings.js';
import { exitCode } from '../src/cli/exit-code.js';
import { renderNewHotels, renderSync, toSyncReport, writeNewHotels } from '../src/cli/mappings.js';
import type { Config } from '../src/config/load.js';
import type { MappingService } from '../src/mapping-service/operations.js';
import type { MappingCopy, MappingSync, NewMasterHotel } from '../src/mappings/mapping-copy.js';
import { type NotifySync, readNewHotels, syncMappings } from '../src/mappings/sync-mappings.js';
import { clock } from './clock.js';
import { openLedger } from './ledgers.js';
import { openMappingService } from './mapping-services.js';
import type { Terminal } from './terminal.js';

/** Maximum number of new hotels shown without a file. */
const hotelsShown = 20;

/** `hotel-review mappings sync`: updates the local copy, and lists new master hotels. */
export async function syncOnce(config: Config, options: SyncOptions, terminal: Terminal): Promise<number> {
  const ledger = await openLedger(config);
  const service = openMappingService(config);
  try {
    const sync = await syncCopy(
      config,
      options,
      { ledger, service, notify: terminal.notify },
      terminal.signal,
    );
    terminal.endProgress();
    const listed = await listNewHotels(ledger.mappings, options.newHotels, terminal.locate);
    terminal.answer(renderSync(sync) + renderNewHotels(listed.hotels, listed), {
      ...toSyncReport(sync),
      newHotelsFile: options.newHotels ?? null,
    });
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

/** A sync with the configured settings. */
export function syncCopy(
  { mappings }: Config,
  { since, providerFamily = mappings.providerFamily }: SyncOptions,
  { ledger, service, notify }: SyncDeps,
  signal: AbortSignal,
): Promise<MappingSync> {
  const settings = { ...mappings, overlapMs: mappings.overlapMinutes * 60_000 };
  const parts = { service, copy: ledger.mappings, settings, clock, createSyncId: randomUUID, notify };
  return syncMappings({ since, providerFamily }, parts, signal);
}

/** Writes all new hotels to a file, or returns the first ones for the screen. A complete list is not repeated. */
async function listNewHotels(copy: MappingCopy, file: string | undefined, locate: Terminal['locate']) {
  if (file !== undefined) {
    const last = await writeNewHotels({ name: file, path: locate(file) }, readNewHotels(copy));
    await copy.markNewHotelsTold(last, clock());
    return { hotels: [], more: false, file };
  }
  const found: readonly NewMasterHotel[] = await copy.listNewHotels({ after: 0, limit: hotelsShown + 1 });
  const more = found.length > hotelsShown;
  const last = found.at(-1);
  if (!more && last) await copy.markNewHotelsTold(last.number, clock());
  return { hotels: found.slice(0, hotelsShown), more };
}
