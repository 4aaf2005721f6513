/** A city of the made-up world, with everything its hotels have in common. */
export interface Place {
  readonly city: string;
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
  readonly countryName: string;
  readonly state: string;
  readonly stateCode: string;
  /** Of the centre, in degrees. */
  readonly latitude: number;
  readonly longitude: number;
  readonly airports: readonly string[];
  readonly station: string;
  /** The international dialling code. */
  readonly dialling: string;
}

/** The order is part of the world: the random numbers pick places by index. */
export const places: readonly Place[] = [
  { city: 'Madrid', ...spain('Comunidad de Madrid', 'MD'), ...at(40.4168, -3.7038, 'Atocha', 'MAD') },
  { city: 'Málaga', ...spain('Andalucía', 'AN'), ...at(36.7213, -4.4214, 'María Zambrano', 'AGP') },
  {
    city: 'Lisboa',
    ...of('PT', 'Portugal', '+351', 'Lisboa', '11'),
    ...at(38.7223, -9.1393, 'Rossio', 'LIS'),
  },
  { city: 'Zürich', ...of('CH', 'Switzerland', '+41', 'Zürich', 'ZH'), ...at(47.3769, 8.5417, 'HB', 'ZRH') },
  {
    city: 'København',
    ...of('DK', 'Denmark', '+45', 'Hovedstaden', '84'),
    ...at(55.6761, 12.5683, 'H', 'CPH'),
  },
  {
    city: 'Kraków',
    ...of('PL', 'Poland', '+48', 'Małopolskie', '12'),
    ...at(50.0647, 19.945, 'Główny', 'KRK'),
  },
  { city: 'Ἀθῆναι', ...of('GR', 'Greece', '+30', 'Αττική', 'I'), ...at(37.9838, 23.7275, 'Λαρίσης', 'ATH') },
  {
    city: 'İstanbul',
    ...of('TR', 'Türkiye', '+90', 'İstanbul', '34'),
    ...at(41.0082, 28.9784, 'Sirkeci', 'IST', 'SAW'),
  },
  {
    city: '東京',
    ...of('JP', 'Japan', '+81', '東京都', '13'),
    ...at(35.6762, 139.6503, '東京駅', 'HND', 'NRT'),
  },
  {
    city: 'São Paulo',
    ...of('BR', 'Brazil', '+55', 'São Paulo', 'SP'),
    ...at(-23.5505, -46.6333, 'Luz', 'GRU', 'CGH'),
  },
];

const byCity = new Map(places.map((known) => [known.city, known]));

export function placeOf(city: string): Place {
  const known = byCity.get(city);
  if (!known) throw new RangeError(`expected a city of the sandbox's world, got: ${city}`);
  return known;
}

function spain(state: string, stateCode: string) {
  return of('ES', 'Spain', '+34', state, stateCode);
}

function of(country: string, countryName: string, dialling: string, state: string, stateCode: string) {
  return { country, countryName, dialling, state, stateCode };
}

function at(latitude: number, longitude: number, station: string, ...airports: readonly string[]) {
  return { latitude, longitude, station, airports };
}
