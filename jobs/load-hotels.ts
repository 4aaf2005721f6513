import { randomUUID } from 'node:crypto';
import { exitCode } from '../src/cli/exit-code.js';
import { renderLoad, toLoadReport } from '../src/cli/hotels.js';
import type { Config } from '../src/config/load.js';
import type { HotelContents } from '../src/mappings/hotels/hotel-contents.js';
import { type LoadedHotels, loadHotels } from '../src/mappings/hotels/load-hotels.js';
import type { ContentFile } from '../src/mappings/hotels/read-content-file.js';
import { clock } from './clock.js';
import { findNamedFile } from './named-file.js';
import { openLedger } from './parts.js';
import type { Terminal } from './terminal.js';

/** `hotel-review hotels load` */
export async function loadHotelsOnce(config: Config, name: string, terminal: Terminal): Promise<number> {
  const { file, open } = await findNamedFile(name, 'the content file of an export', terminal.locate(name));
  const ledger = await openLedger(config);
  try {
    const content = { file, content: open(terminal.signal) };
    const loaded = await loadContentFile(config, content, ledger, terminal.signal);
    terminal.answer(renderLoad(loaded), toLoadReport(loaded));
    return exitCode.done;
  } finally {
    await ledger.close();
  }
}

/** A load with the configured settings. */
export function loadContentFile(
  config: Config,
  file: Omit<ContentFile, 'masterIdNames'>,
  { hotels }: { readonly hotels: HotelContents },
  signal: AbortSignal,
): Promise<LoadedHotels> {
  return loadHotels(
    { ...file, masterIdNames: listMasterIdNames(config) },
    { hotels, clock, createId: randomUUID },
    signal,
  );
}

/** The specification says ServiceId; a deployment with another name in JSON may use that one in files, too. */
export function listMasterIdNames({ service: { masterIdName } }: Config): readonly string[] {
  return [...new Set([masterIdName, 'ServiceId'])];
}
