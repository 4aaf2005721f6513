import type { HotelBrand } from '../mapping-service/operations.js';
import { renderTable } from '../text/tables.js';

export function renderBrands(brands: readonly HotelBrand[]): string {
  if (brands.length === 0) return 'The service has no brands.\n';
  const rows = brands.map(({ Id, BrandCode, BrandName, ChainId }) => [
    Id,
    BrandCode ?? '',
    BrandName ?? '',
    ChainId ?? '',
  ]);
  return `${renderTable(rows, ['Id', 'BrandCode', 'BrandName', 'ChainId'])}\n`;
}
