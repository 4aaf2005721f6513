import type { RequestExportOptions } from '../src/cli/commands/exports.js';
import { exitCode } from '../src/cli/exit-code.js';
import { renderRequest, toRequestReport } from '../src/cli/exports.js';
import type { Config } from '../src/config/load.js';
import { MappingServiceError } from '../src/mapping-service/errors.js';
import { requestExport } from '../src/mappings/export/export-log.js';
import { clock } from './clock.js';
import { openLedger, openMappingService } from './parts.js';
import type { Terminal } from './terminal.js';

/** `hotel-review export request` */
export async function requestOneExport(
  config: Config,
  { email, providers }: RequestExportOptions,
  terminal: Terminal,
): Promise<number> {
  const ledger = await openLedger(config);
  const service = openMappingService(config);
  const startedAt = clock();
  try {
    const parts = { service, log: ledger.exports, clock };
    const requested = await requestExport({ emailId: email, providers }, parts, terminal.signal);
    terminal.answer(renderRequest(requested, email, terminal.command), toRequestReport(requested));
    return exitCode.done;
  } catch (error) {
    throw error instanceof MappingServiceError && error.outcomeUnknown
      ? sayHowToCheck(error, startedAt, terminal)
      : error;
  } finally {
    await Promise.all([service.close(), ledger.close()]);
  }
}

/** A second request would start a second export, so a person decides. */
function sayHowToCheck(error: MappingServiceError, startedAt: number, { command }: Terminal): Error {
  const { kind, code, operation, httpStatus } = error;
  const since = new Date(startedAt).toISOString();
  return new MappingServiceError(
    `The service gave no clear answer to the export request (${code}) and may have started the export, so the request is not repeated. Check whether the e-mail or the files arrive: ${command(`export fetch --since ${since}`)}. If neither does, request the export again: ${command('export request --email ADDRESS')}. If the service does nothing when it answers like this, set service.httpStatus.`,
    { kind, code, operation, outcomeUnknown: true, ...(httpStatus !== undefined && { httpStatus }) },
    { cause: error },
  );
}
