import { describe, expect, it } from 'vitest';
import { serviceFields } from '../../src/booking/booking.js';
import { fieldSynonyms, matchColumns, simplifyName } from '../../src/booking/match-columns.js';

const match = (...names: string[]) => Object.fromEntries(matchColumns(names).columns);

describe('Columns are matched to fields', () => {
  it("by the service's own names before any others", () => {
    expect(match('hotel_id', 'ServiceId', 'name', 'BookingClientName')).toEqual({
      ServiceId: 'ServiceId',
      BookingClientName: 'BookingClientName',
    });
  });

  it.each([
    ['hotel_id', 'ServiceId'],
    ['Service Mappings Id', 'ServiceId'],
    ['booking_ref', 'BookingReferenceId'],
    ['guest.name', 'BookingClientName'],
    ['a.b.supplier.hotel_id', 'ProviderHotelId'],
    ['stay.period.arrival', 'CheckInDate'],
    ['Lead Guest', 'BookingClientName'],
    ['provider', 'ProviderName'],
    ['providerHotelId', 'ProviderHotelId'],
    ['Check-In Date', 'CheckInDate'],
    ['checkout', 'CheckOutDate'],
  ])('%s as %s', (name, field) => {
    expect(match('price', name)).toEqual({ [field]: name });
  });

  it.each<[string, ...string[]]>([
    ['Master-ID', 'Buchungsnr', 'Gast', 'Lieferant', 'Hotel-Code Lieferant', 'Anreise', 'Abreise'],
    [
      'ID Hotel',
      'Localizador',
      'Nombre del huésped',
      'Proveedor',
      'Código hotel proveedor',
      'Fecha de entrada',
      'Fecha de salida',
    ],
    [
      "ID de l'hôtel",
      'N° de réservation',
      'Nom du client',
      'Fournisseur',
      "Code de l'hôtel fournisseur",
      "Date d'arrivée",
      'Date de départ',
    ],
  ])('of an export in another language: %s, %s, %s, …', (...names) => {
    const expected = Object.fromEntries(serviceFields.map((field, at) => [field, names[at]]));
    expect(match('Hotel', ...names.toReversed(), 'Status')).toEqual(expected);
    // Accented letters may be composed or decomposed.
    expect(Object.keys(match(...names.map((name) => name.normalize('NFD'))))).toEqual([...serviceFields]);
  });

  it('unless a name occurs twice: nobody knows which one it is', () => {
    expect(match('arrival', 'checkout', 'arrival')).toEqual({ CheckOutDate: 'checkout' });
  });

  it.each(['hotel', 'Name', 'Hotel Code', 'Date', 'Status', 'meta.link.reference', ''])(
    'not for a name that may mean something else: %s',
    (name) => {
      expect(match(name)).toEqual({});
    },
  );

  it('by synonyms that are unique to one field and already simplified', () => {
    const all = serviceFields.flatMap((field) => [simplifyName(field), ...fieldSynonyms[field]]);
    expect(all.filter((word, at) => all.indexOf(word) !== at)).toEqual([]);
    expect(all.filter((word) => simplifyName(word) !== word)).toEqual([]);
  });

  it('one to one: the likelier name wins, and the other stays unused', () => {
    const { columns, unused } = matchColumns(['hotel_id', 'master_id', 'status']);
    expect(Object.fromEntries(columns)).toEqual({ ServiceId: 'master_id' });
    expect(unused).toEqual(['hotel_id', 'status']);
  });
});
