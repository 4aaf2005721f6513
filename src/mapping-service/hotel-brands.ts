import { checkOptionalInteger, checkOptionalText, readInteger, readObjects } from './answer-fields.js';
import type { Envelope, HotelBrand, MasterHotelBrands } from './operations.js';

/** Reads the answer of Get Master Hotel Brands (spec 2.4 and 4.4). @throws InvalidField */
export function readMasterHotelBrands(envelope: Envelope): MasterHotelBrands {
  const HotelBrands = readObjects(envelope, 'HotelBrands').map(({ fields, at }): HotelBrand => {
    checkOptionalText(fields, 'BrandCode', at);
    checkOptionalText(fields, 'BrandName', at);
    checkOptionalInteger(fields, 'ChainId', at);
    return { ...fields, Id: readInteger(fields, 'Id', at) };
  });
  return { ...envelope, HotelBrands };
}
