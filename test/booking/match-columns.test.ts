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
    ['stay.guest.name', 'BookingClientName'],
    ['a.b.supplier.hotel_id', 'ProviderHotelId'],
    ['stay.period.arrival', 'CheckInDate'],
    ['data.provider_hotel_id', 'ProviderHotelId'],
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

  it('not by a last name that may be of anything', () => {
    expect(match('stay.supplier.reference', 'price.client')).toEqual({});
  });

  it.each<[string, ...string[]]>([
    ['Master-ID', 'Buchungsnr', 'Gast', 'Lieferant', 'Hotel-Code Lieferant', 'Anreise', 'Abreise'],
    [
      'Hotel ID',
      'Buchungsreferenz',
      'Gastname',
      'Anbieter',
      'Supplier Hotel Code',
      'Anreisedatum',
      'Abreisedatum',
    ],
    [
      'master_hotel_id',
      'Booking No.',
      'Lead Guest Name',
      'Supplier Name',
      'HotelCodeSupplier',
      'Date of arrival',
      'DepartureDate',
    ],
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
    [
      'ID hotel',
      'Numero di prenotazione',
      "Nome dell'ospite",
      'Fornitore',
      'Codice hotel fornitore',
      'Data di arrivo',
      'Partenza',
    ],
    [
      'ID do hotel',
      'Nº da reserva',
      'NomeDoHóspede',
      'Fornecedor',
      'Código do hotel do fornecedor',
      'Data de chegada',
      'Saída',
    ],
  ])('of an export in another language: %s, %s, %s, …', (...names) => {
    const expected = Object.fromEntries(serviceFields.map((field, at) => [field, names[at]]));
    expect(match('Hotel', ...names.toReversed(), 'Status')).toEqual(expected);
    // Accented letters may be composed or decomposed.
    expect(Object.keys(match(...names.map((name) => name.normalize('NFD'))))).toEqual([...serviceFields]);
  });

  it.each([
    'hotel',
    'Hotel Name',
    'Name',
    'Hotel Code',
    'Supplier ID',
    'Lieferantennr',
    'Date',
    'Status',
    'Reserva',
    '',
  ])('not for a name that may mean something else: %s', (name) => {
    expect(match(name)).toEqual({});
  });

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

  it("unless the name occurs twice: a source can't tell such columns apart", () => {
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
