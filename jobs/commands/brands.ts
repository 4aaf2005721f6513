import { renderTable } from '../../src/base/tables.js';
import { command, csvOptions } from '../command.js';

/** The fields of a brand, in the order of the specification. (Spec 2.4.) */
const columns = ['Id', 'BrandCode', 'BrandName', 'ChainId'] as const;

/** The complete list, as a table, as JSON or as a file. */
export default command({
  place: ['mappings', 4],
  summary: "list the service's brands of master hotels",
  options: csvOptions,
  examples: `
Examples:
  hotel-review brands
  hotel-review brands --csv brands.csv`,

  async run(app, file) {
    const brands = await app.mappingService().getMasterHotelBrands({ signal: app.signal });
    await app.writeCsv(file, columns, (add) => add(brands));
    if (file.csv !== undefined) return app.answer(`All ${brands.length} brands are in ${file.csv}.`, brands);
    if (brands.length === 0) return app.answer('The service has no brands.', brands);
    const rows = brands.map((brand) => columns.map((column) => brand[column] ?? ''));
    return app.answer(renderTable(rows, columns), brands);
  },
});
