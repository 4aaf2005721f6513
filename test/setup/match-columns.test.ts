import { describe, expect, it } from 'vitest';
import { matchColumns } from '../../src/setup/match-columns.js';

const match = (...names: string[]) => Object.fromEntries(matchColumns(names).columns);

describe('Columns are taken for fields', () => {
  it("by the service's own names before all others", () => {
    expect(match('hotel_id', 'ServiceId', 'name', 'BookingClientName')).toEqual({
      ServiceId: 'ServiceId',
      BookingClientName: 'BookingClientName',
    });
  });

  it.each([
    ['hotel_id', 'ServiceId'],
    ['HOTEL ID', 'ServiceId'],
    ['master-id', 'ServiceId'],
    ['service_id', 'ServiceId'],
    ['Service Mappings Id', 'ServiceId'],
    ['booking_reference_id', 'BookingReferenceId'],
    ['reference', 'BookingReferenceId'],
    ['booking_id', 'BookingReferenceId'],
    ['booking_ref', 'BookingReferenceId'],
    ['guest', 'BookingClientName'],
    ['guest.name', 'BookingClientName'],
    ['Lead Guest', 'BookingClientName'],
    ['client_name', 'BookingClientName'],
    ['supplier', 'ProviderName'],
    ['provider', 'ProviderName'],
    ['supplier_hotel_id', 'ProviderHotelId'],
    ['providerHotelId', 'ProviderHotelId'],
    ['check_in', 'CheckInDate'],
    ['Check-In Date', 'CheckInDate'],
    ['arrival', 'CheckInDate'],
    ['checkout', 'CheckOutDate'],
    ['departure', 'CheckOutDate'],
  ])('%s as %s', (name, field) => {
    expect(match('price', name)).toEqual({ [field]: name });
  });

  it('one column for one field: the likelier name wins, the other is not used', () => {
    const { columns, unused } = matchColumns(['hotel_id', 'master_id', 'status']);
    expect(Object.fromEntries(columns)).toEqual({ ServiceId: 'master_id' });
    expect(unused).toEqual(['hotel_id', 'status']);
  });

  it("not when the name stands there twice: a source can't tell such columns apart", () => {
    expect(match('hotel_id', 'hotel_id')).toEqual({});
  });

  it("in the service's order, whatever the file's is", () => {
    expect([...matchColumns(['departure', 'arrival', 'hotel_id']).columns.keys()]).toEqual([
      'ServiceId',
      'CheckInDate',
      'CheckOutDate',
    ]);
  });
});
