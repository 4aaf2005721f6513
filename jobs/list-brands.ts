import type { CsvOptions } from '../src/cli/commands/options.js';
import { exitCode } from '../src/cli/exit-code.js';
import { renderBrands } from '../src/cli/mappings.js';
import type { Config } from '../src/config/load.js';
import { writeCsvFile } from '../src/text/output-files.js';
import { openMappingService } from './parts.js';
import type { Terminal } from './terminal.js';

/** The fields of a brand, in the order of the specification. (Spec 2.4.) */
const columns = ['Id', 'BrandCode', 'BrandName', 'ChainId'];

/** `hotel-review brands`: the complete list, as a table, as JSON or as a file. */
export async function listBrands(
  config: Config,
  { csv, ...how }: CsvOptions,
  terminal: Terminal,
): Promise<number> {
  const service = openMappingService(config);
  try {
    const { HotelBrands: brands } = await service.getMasterHotelBrands({ signal: terminal.signal });
    if (csv !== undefined) await writeCsvFile(columns, { csv, ...how }, terminal, (add) => add(brands));
    terminal.answer(
      csv === undefined ? renderBrands(brands) : `All ${brands.length} brands are in ${csv}.\n`,
      brands,
    );
    return exitCode.done;
  } finally {
    await service.close();
  }
}
