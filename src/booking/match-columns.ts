import { type ServiceField, serviceFields } from './booking.js';

/**
 * Finds the fields among a file's columns: by their exact names, by other spellings (`check_in_date`), or by common synonyms
 * (`arrival`), also at the end of a path. A name that occurs twice matches nothing.
 */
export function matchColumns(names: readonly string[]) {
  const single = names.filter((name) => name !== '' && names.indexOf(name) === names.lastIndexOf(name));
  const columns = new Map<ServiceField, string>();
  const take = (wantedBy: (field: ServiceField) => readonly string[], spell: (name: string) => string) => {
    const taken = new Set(columns.values());
    for (const field of serviceFields) {
      if (columns.has(field)) continue;
      const free = single.filter((name) => !taken.has(name));
      const found = wantedBy(field).flatMap((wanted) => free.filter((name) => spell(name) === wanted))[0];
      if (found === undefined) continue;
      columns.set(field, found);
      taken.add(found);
    }
  };
  take(
    (field) => [field],
    (name) => name,
  );
  const spellings = (field: ServiceField) => [simplifyName(field), ...fieldSynonyms[field]];
  take(spellings, simplifyName);
  // Members of nested objects: `stay.guest.name` is `guest.name`.
  take(spellings, (name) => simplifyName(name.split('.').slice(-2).join('.')));
  // Alone, a last name such as `reference` may be that of anything.
  take(
    (field) => (/Date$/.test(field) ? spellings(field) : [simplifyName(field)]),
    (name) => simplifyName(name.split('.').at(-1) ?? ''),
  );
  return {
    /** In the service's order, without the fields that no column matches. */
    columns: new Map(
      serviceFields.flatMap((field): [ServiceField, string][] => {
        const name = columns.get(field);
        return name === undefined ? [] : [[field, name]];
      }),
    ) as ReadonlyMap<ServiceField, string>,
    /** The other columns, in the file's order. */
    unused: names.filter((name) => ![...columns.values()].includes(name)),
  };
}

/** Words to ignore: "Date d'arrivée" and "data de chegada" become `datearrivee` and `datachegada`. */
const fillers = new Set('of the de del della delle dello dell di do da du des der d l la le el'.split(' '));

/** `Hotel-Id`, `hotel_id`, `hotel.id`, `HotelId` and `HÔTEL ID` are the same name. */
export function simplifyName(name: string): string {
  return splitWords(name)
    .filter((word) => !fillers.has(word))
    .join('');
}

/** `NoShow`, `no-show` and `NÓ SHOW` are the same words: in small letters, without accents. */
export function splitWords(text: string): readonly string[] {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

/**
 * Common names for the fields, the most likely first, as `simplifyName` returns them, in English, German, Spanish, French,
 * Italian and Portuguese. Ambiguous words such as `hotel`, `name`, `supplierid` or `hotelcode` are left out: no match is
 * better than a wrong one.
 */
export const fieldSynonyms: Readonly<Record<ServiceField, readonly string[]>> = {
  ServiceId: list(`
    servicemappingsid servicemappingid masterid masterhotelid hotelmasterid masterhotelcode masterhotelnumber
    masterpropertyid hotelid idhotel
    masterhotelnr masterhotelnummer stammhotelid
    idmaestro idhotelmaestro idmaestrohotel codigohotelmaestro idhotelmaster idmaster
    idhotelmaitre
    idmestre idhotelmestre`),
  BookingReferenceId: list(`
    bookingreference bookingreferencenumber bookingreferenceno bookingref bookingrefno bookingid bookingnumber bookingno
    bookingnr bookingcode bookinglocator reservationid reservationnumber reservationno reservationnr reservationreference
    reservationref reservationcode reference referencenumber ref locator
    buchungsreferenz buchungsreferenznummer buchungsnummer buchungsnr buchungsid buchungscode reservierungsreferenz
    reservierungsnummer reservierungsnr reservierungsid reservierungscode vorgangsnummer vorgangsnr referenz referenznummer
    localizador localizadorreserva referenciareserva numeroreserva numreserva nreserva noreserva idreserva codigoreserva
    codreserva refreserva reservaid referencia
    referencereservation numeroreservation numreservation nreservation noreservation idreservation codereservation
    refreservation numerodossier referencedossier
    riferimentoprenotazione numeroprenotazione nprenotazione noprenotazione idprenotazione codiceprenotazione riferimento`),
  BookingClientName: list(`
    clientname leadguest leadguestname mainguest mainguestname guestname guest guestfullname nameguest leadname
    leadpassenger leadpassengername leadpax leadpaxname paxname passengername passenger travellername travelername
    leadtraveller leadtraveler customername client
    gast gastname gaestename gastename namegast namegastes hauptgast reisender reisendername hauptreisender kundenname
    namekunden kunde
    huesped huespedprincipal nombrehuesped titular titularreserva nombretitular cliente nombrecliente pasajero
    nombrepasajero pasajeroprincipal
    voyageur nomvoyageur nomclient voyageurprincipal
    ospite nomeospite ospiteprincipale nomecliente intestatario intestatarioprenotazione passeggero nomepasseggero
    hospede nomehospede hospedeprincipal nometitular passageiro nomepassageiro`),
  ProviderName: list(`
    supplier suppliername provider vendor vendorname wholesaler wholesalername bedbank
    lieferant lieferantenname lieferantname namelieferanten anbieter anbietername nameanbieters
    proveedor nombreproveedor
    fournisseur nomfournisseur
    fornitore nomefornitore
    fornecedor nomefornecedor`),
  ProviderHotelId: list(`
    supplierhotelid supplierhotelcode supplierhotelnumber supplierhotelno supplierhotelref suppliershotelid
    suppliershotelcode supplierpropertyid supplierpropertycode providerhotel providerhotelcode providerhotelnumber
    providerpropertyid providerpropertycode supplierhotel vendorhotelid vendorhotelcode hotelidsupplier hotelcodesupplier
    hotelsupplierid hotelsuppliercode hotelidprovider hotelcodeprovider hotelproviderid hotelprovidercode
    hotelcodelieferant hotelidlieferant hotelnrlieferant hotelnummerlieferant hotelcodelieferanten hotelidlieferanten
    hotelnrlieferanten hotelnummerlieferanten lieferantenhotel lieferantenhotelid lieferantenhotelcode
    lieferantenhotelnr lieferantenhotelnummer lieferanthotel lieferanthotelid lieferanthotelcode
    anbieterhotel anbieterhotelid anbieterhotelcode anbieterhotelnr
    hotelcodeanbieter hotelidanbieter hotelnranbieter hotelcodeanbieters hotelidanbieters
    idhotelproveedor codigohotelproveedor codhotelproveedor hotelidproveedor
    idhotelfournisseur codehotelfournisseur numerohotelfournisseur
    idhotelfornitore codicehotelfornitore codhotelfornitore
    idhotelfornecedor codigohotelfornecedor codhotelfornecedor`),
  CheckInDate: list(`
    checkin datecheckin checkinday arrival arrivaldate datearrival arrivalday
    anreise anreisedatum anreisetag ankunft ankunftsdatum ankunftstag checkindatum
    llegada fechallegada entrada fechaentrada fechacheckin
    arrivee datearrivee jourarrivee
    arrivo dataarrivo datacheckin
    chegada datachegada dataentrada`),
  CheckOutDate: list(`
    checkout datecheckout checkoutday departure departuredate datedeparture departureday
    abreise abreisedatum abreisetag checkoutdatum
    salida fechasalida fechacheckout
    depart datedepart jourdepart
    partenza datapartenza datacheckout
    saida datasaida partida datapartida`),
};

function list(words: string): readonly string[] {
  return words.trim().split(/\s+/);
}
