import type { RequestExportOptions } from '../src/cli/commands/exports.js';
import { exitCode } from '../src/cli/exit-code.js';
import { renderRequest, toRequestReport } from '../src/cli/exports.js';
import type { Config } from '../src/config/load.js';
import { requestExport } from '../src/mappings/export/export-log.js';
import { clock } from './clock.js';
import { openLedger } from './ledgers.js';
import { openMappingService } from './mapping-services.js';
import type { Terminal } from './terminal.js';

/** `hotel-review export request` */
export async function requestOneExport(
  config: Config,
  { email, providers }: RequestExportOptions,
  terminal: Terminal,
): Promise<number> {
  const ledger = await openLedger(config);
  const service = openMappingService(config);
  try {
    const requested = await requestExport(
      { emailId: email, providers },
      { service, log: ledger.exports, clock },
      terminal.signal,
    );
    terminal.answer(renderRequest(requested, email, terminal.command), toRequestReport(requested));
    return exitCode.done;
  } finally {
    await Promise.all([service.close(), ledger.close()]);
  }
}
