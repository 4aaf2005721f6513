/** What a result may say of a booking; the guest's name is not read. */
export const resultFields = [
  'serviceId',
  'bookingReferenceId',
  'providerName',
  'providerHotelId',
  'checkInDate',
  'checkOutDate',
  'isCorrect',
] as const;

export type ResultField = (typeof resultFields)[number];

/** In which column a result has a field, counted from 0. */
export type ResultColumns = { readonly [field in ResultField]?: number };

/** The names a column is known by; the result's own columns are not specified. (Spec 2.6, design 6.) */
const columnNames: { readonly [field in ResultField]: readonly string[] } = {
  serviceId: ['Service Mappings Id', 'ServiceId'],
  bookingReferenceId: ['BookingReferenceId'],
  providerName: ['ProviderName'],
  providerHotelId: ['ProviderHotelId'],
  checkInDate: ['CheckInDate'],
  checkOutDate: ['CheckOutDate'],
  isCorrect: ['IsCorrectMapping'],
};

/**
 * Finds the fields by the names of the columns, exactly first and then with case, white space, underscores and hyphens
 * left out of account. Other columns are left alone; of two with one name the first counts.
 */
export function findResultColumns(cells: readonly string[], masterIdColumn: string): ResultColumns {
  const names = cells.map((cell) => cell.trim());
  const folded = names.map(fold);
  const columns: { [field in ResultField]?: number } = {};
  for (const field of resultFields) {
    const known = field === 'serviceId' ? [masterIdColumn, ...columnNames[field]] : columnNames[field];
    const places = [
      ...known.map((name) => names.indexOf(name)),
      ...known.map((name) => folded.indexOf(fold(name))),
    ];
    const place = places.find((at) => at !== -1);
    if (place !== undefined) columns[field] = place;
  }
  return columns;
}

function fold(name: string): string {
  return name.toLowerCase().replace(/[\s_-]+/g, '');
}
