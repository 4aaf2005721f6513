export const mappingColumns =
  'ServiceId,ProviderHotelId,ProviderFamily,ModifiedOn,ChannelIds,ProviderLocationId';
export const hotelColumns =
  'ServiceId,HotelName,Lat,Long,AddressLine1,AddressLine2,City,State,StateCode,CountryName,CountryCode,PostalCode,StarRating,PropertyType,ChainName,BrandName,CityLocationId,MasterCityName,LocationIds,Phones,Fax,Email,Website,AirportCodes,TrainStations,ProviderHotelId,ProviderFamily,GooglePlusCode';

export interface ExportContents {
  readonly mappings: string;
  readonly transformed: string;
  readonly hotels: string;
}

/** A small export, valid in every column. */
export const smallExport: ExportContents = {
  mappings: `${mappingColumns}\r\n1,H-1,Bedlink,2026-11-20,"Retail,Net",LOC1\r\n2,H-2,Bedlink,2026-11-20,,LOC2\r\n`,
  transformed: 'ServiceId,Bedlink,Roomex\r\n1,H-1,\r\n2,H-2,R-2\r\n3,,R-3\r\n',
  hotels: `${hotelColumns}\r\n1,"Hotel ""One"", by the\r\nsea",0,0${','.repeat(24)}\r\n`,
};
