import { type TextProperty, textFields } from '../common/fields.js';
import { createEvenSelector, createPick, createSeededRandom } from '../common/random.js';
import type { Hotel, Mapping, World } from '../world/world.js';
import type { Cell, Flaw, MadeRecord } from './record-formats.js';

/** Shares of the records. */
const duplicateShare = 0.005;
const flawedShare = 0.006;
/** The share of the bookings that lack one field. */
const incompleteShare = 0.03;

/** The share of the wrong mappings that stay in the city. */
const nearShare = 0.75;

/** Everything rare first appears early, so that a screenful of records shows it. */
const firstDuplicate = { from: 10, to: 45 };
const firstFlaw = { from: 15, to: 50 };
const firstWrong = { from: 0, to: 40 };
/** A duplicate repeats one of this many latest bookings. */
const recentCount = 256;

const waysToLack: readonly Cell[] = [undefined, null, '  '];
/** 2^53: one more than the largest integer that every JSON parser keeps exactly. */
const tooLarge = '9007199254740992';

export interface MadeDay {
  /** YYYY-MM-DD */
  readonly day: string;
  /** Number of records, including duplicates and flawed ones. */
  readonly count: number;
  /** The same seed gives the same records. */
  readonly seed: number;
  /** Whose hotels are booked: two or more. */
  readonly world: World;
  /** Share of wrong mappings, from 0 to 1 of the bookings that have a reference and name their provider's hotel. */
  readonly wrongShare: number;
}

/** Makes up the records of a day, one at a time. No two bookings share a reference. */
export function* makeBookings({ day, count, seed, world, wrongShare }: MadeDay): Generator<MadeRecord, void> {
  const mapped = new Set(world.mappings.map(({ serviceId }) => serviceId));
  const sold = world.hotels.filter(({ serviceId }) => mapped.has(serviceId));
  const random = createSeededRandom(seed);
  const pick = createPick(random);
  const drawGuest = createGuests(random);
  const drawStay = createStays(day, random);
  const drawFlaw = createFlaws(pick);
  const isFlawed = createEvenSelector(flawedShare, random, firstFlaw);
  const isDuplicate = createEvenSelector(duplicateShare, random, firstDuplicate);
  const isIncomplete = createEvenSelector(incompleteShare, random);
  const isWrongNext = createEvenSelector(wrongShare, random, firstWrong);
  const prefix = `BR-${day.slice(2).replaceAll('-', '')}-`;
  const recent: MadeRecord[] = [];
  let neighbours: ReadonlyMap<string, readonly Hotel[]> | undefined;
  let references = 0;
  let withoutReference = 0;
  let bookings = 0;

  function drawMapping(missing: TextProperty | undefined): Mapping {
    if (missing !== 'bookingReferenceId') return pick(world.mappings);
    // In turn, so that no two bookings without a reference are equal by chance.
    withoutReference += 1;
    return world.mappings[withoutReference % world.mappings.length] as Mapping;
  }

  /** The master hotel that the agency confuses the provider's with: mostly another one in the same city. */
  function drawWrongHotel({ serviceId: correct }: Mapping): number {
    neighbours ??= groupByCity(sold);
    const near = neighbours.get(world.hotelOf(correct)?.city ?? '') ?? sold;
    for (;;) {
      const drawn = random();
      const isNear = drawn < nearShare;
      const hotels = isNear ? near : sold;
      const share = isNear ? drawn / nearShare : (drawn - nearShare) / (1 - nearShare);
      const { serviceId } = hotels[Math.floor(share * hotels.length)] as Hotel;
      if (serviceId !== correct) return serviceId;
    }
  }

  function drawBooking(missing: TextProperty | undefined, isWrong: boolean): MadeRecord {
    references += 1;
    const mapping = drawMapping(missing);
    const stay = drawStay();
    const guest = drawGuest();
    const texts: Record<TextProperty, Cell> = {
      bookingReferenceId: `${prefix}${references}`,
      bookingClientName: guest,
      providerName: mapping.providerName,
      providerHotelId: mapping.providerHotelId,
      checkInDate: stay.checkIn,
      checkOutDate: stay.checkOut,
    };
    if (missing !== undefined) texts[missing] = pick(waysToLack);
    const serviceId = isWrong ? drawWrongHotel(mapping) : mapping.serviceId;
    return { kind: 'booking', serviceId: String(serviceId), ...texts, missing, isWrong };
  }

  for (let record = 0; record < count; record += 1) {
    if (isFlawed()) {
      yield drawFlaw(drawBooking(undefined, false));
    } else if (isDuplicate()) {
      yield { ...pick(recent), kind: 'duplicate' };
    } else {
      const missing = isIncomplete() ? pick(textFields).property : undefined;
      const booking = drawBooking(missing, canBeWrong(missing) && isWrongNext());
      recent[bookings % recentCount] = booking;
      bookings += 1;
      yield booking;
    }
  }
}

function groupByCity(hotels: readonly Hotel[]): ReadonlyMap<string, readonly Hotel[]> {
  const byCity = new Map<string, Hotel[]>();
  for (const hotel of hotels) {
    const ofCity = byCity.get(hotel.city);
    if (ofCity) ofCity.push(hotel);
    else byCity.set(hotel.city, [hotel]);
  }
  return byCity;
}

function canBeWrong(missing: TextProperty | undefined): boolean {
  return missing !== 'bookingReferenceId' && missing !== 'providerName' && missing !== 'providerHotelId';
}

/** Applies the flaws in turn, so that a day of some size has them all. */
function createFlaws(pick: <Item>(items: readonly Item[]) => Item): (record: MadeRecord) => MadeRecord {
  const flaws: readonly ((record: MadeRecord) => Partial<MadeRecord> & { readonly kind: Flaw })[] = [
    () => ({ kind: 'service-id-absent', serviceId: undefined }),
    () => ({ kind: 'name-in-two-parts', bookingClientName: pick(namesWithComma) }),
    ({ serviceId }) => ({ kind: 'service-id-in-letters', serviceId: `H${serviceId}` }),
    () => ({ kind: 'quotes-not-escaped', bookingClientName: pick(namesWithQuotes) }),
    () => ({ kind: 'service-id-zero', serviceId: '0' }),
    () => ({ kind: 'service-id-too-large', serviceId: tooLarge }),
  ];
  let made = 0;
  return (record) => {
    const spoil = flaws[made % flaws.length];
    made += 1;
    return { ...record, ...spoil?.(record) };
  };
}

const dayMs = 86_400_000;
/** Dates have years of four digits. */
const firstDay = '0001-01-01';
const lastDay = '9999-12-31';

/** Bookings that are exported only after the guest has arrived. */
const lateShare = 0.02;
const sameDayShare = 0.08;
const daysLate = 3;
const daysAhead = 330;
const longestStay = 21;

/**
 * Makes up stays of one to 21 nights as people book them: mostly in the coming weeks, rarely next year, and mostly short.
 *
 * @param day YYYY-MM-DD, as the dates of the stays
 */
function createStays(day: string, random: () => number) {
  const first = Date.parse(`${day}T00:00:00Z`) - daysLate * dayMs;
  const dates = Array.from({ length: daysLate + daysAhead + longestStay + 1 }, (_, index) =>
    writeDate(first + index * dayMs),
  );

  function drawCheckIn(): number {
    const when = random();
    if (when < lateShare) return Math.floor(random() * daysLate);
    if (when < lateShare + sameDayShare) return daysLate;
    return daysLate + Math.floor(random() ** 2 * daysAhead);
  }

  return () => {
    const checkIn = drawCheckIn();
    const nights = 1 + Math.floor(random() ** 2 * longestStay);
    return { checkIn: dates[checkIn] ?? lastDay, checkOut: dates[checkIn + nights] ?? lastDay };
  };
}

function writeDate(instant: number): string {
  const within = Math.min(Math.max(instant, Date.parse(firstDay)), Date.parse(lastDay));
  return new Date(within).toISOString().slice(0, 10);
}

/** The share of guests whose names often break programs. */
const peculiarShare = 0.06;
const upperCaseShare = 0.05;
const commaShare = 0.03;

/** Names with a comma inside, family name first. */
const namesWithComma = ['García, Luis', "O'Neill, Siobhán", 'Müller, Jörg'] as const;
/** Names with double quotes inside. */
const namesWithQuotes = ['Zoë "Zo" Brandt', 'William "Bill" Hart', 'José "Pepe" Núñez'] as const;

/** In order of use: the most common troublemakers first. */
const peculiarNames = [
  'Null',
  ...namesWithComma.slice(0, 1),
  ...namesWithQuotes.slice(0, 1),
  "Siobhán O'Neill",
  'None',
  '🌴 Kai Palmer',
  'Renée Lefèvre'.normalize('NFD'),
  'Anna-Lena\nvan der Berg',
  '  Marta Nowak ',
  'Wolfeschlegelsteinhausenbergerdorff, Hubert Blaine',
  'Chiara D’Amico',
  'Anne-Marie Dupont-Lefèvre',
  'Mr & Mrs Smith',
  ...namesWithComma.slice(1),
  'Nguyễn Thị Ánh'.normalize('NFD'),
  'Wang 伟',
  ...namesWithQuotes.slice(1),
  'Tomáš Dvořák\u00a0',
  'X Æ',
  'Nan True',
] as const;

interface NamePool {
  /** In percent of the guests. */
  readonly share: number;
  readonly given: readonly string[];
  readonly family: readonly string[];
  readonly order: 'given-first' | 'family-first' | 'in-one';
  /** The script has capitals, and a leading family name is followed by a comma. */
  readonly isEuropean: boolean;
}

const namePools: readonly NamePool[] = [
  european(
    21,
    'James Olivia Emma Noah Grace Harry Amelia Jack Chloe Daniel Sarah Michael Megan Thomas Ruth Ian',
    "Smith Jones Taylor Brown Wilson Evans Walker Wright O'Brien Hughes Clarke McDonald Hall Baker Young Cole",
  ),
  european(
    17,
    'Lucía Hugo Martina Álvaro Paula Andrés Inés Javier Carmen Íñigo Sofía Rubén Marta José Elena Raúl',
    'García Martínez López Núñez Sánchez Pérez Muñoz Gómez Ibáñez Castro Peña Ruiz Vidal Torres Ortiz Vega',
  ),
  european(
    8,
    'Jürgen Anna Björn Katrin Lukas Käthe Stefan Mia Günther Lena',
    'Müller Schmidt Weiß Schröder Fischer Köhler Bauer Böhm Vogel Groß',
  ),
  european(
    7,
    'Renée Louis Zoé François Chloé Benoît Camille Aurélie Hélène Luc',
    'Lefèvre Martin Dubois Géraud Petit Moreau Noël Garçon Fournier Bézier',
  ),
  european(
    6,
    'Giulia Marco Niccolò Chiara Matteo Alessia Luca Noemi Paolo Elisa',
    "Rossi Bianchi Ferrari D'Angelo Esposito Ricci Conti Galli Cantù Greco",
  ),
  european(
    5,
    'João Inês António Beatriz Conceição Tiago Luís Mariana Gonçalo Íris',
    'Silva Gonçalves Araújo Magalhães Sousa Conceição Simões Nunes Brandão Reis',
  ),
  european(
    5,
    'Zofia Łukasz Małgorzata Jiří Šárka Zoltán Ilona Žiga Nikola Ștefan',
    'Wójcik Kowalski Dąbrowska Dvořák Novotná Nagy Szabó Kovač Horvat Ionescu',
  ),
  european(
    4,
    'Åsa Søren Bjørn Ingrid Guðrún Mikko Signe Øyvind Tuomas Freja',
    'Åkesson Sørensen Østby Lindqvist Jónsdóttir Hämäläinen Nygård Holm Mäkinen Dahl',
  ),
  european(
    3,
    'Ayşe Çağlar İbrahim Gülşen Özlem Emre Şule Deniz Umut Işıl',
    'Yılmaz Çelik Şahin Öztürk Kaya Doğan Güneş Aydın Koç Kılıç',
  ),
  european(
    2,
    'Ελένη Γιώργος Μαρία Νίκος Αθηνά Δημήτρης Σοφία Κώστας',
    'Παπαδοπούλου Νικολάου Οικονόμου Γεωργίου Βλάχος Αγγέλου Ράπτης Ζέρβας',
  ),
  european(
    5,
    'Анна Сергій Ольга Дмитрий Наталія Иван Юлия Олександр Ђорђе Мария',
    'Шевченко Коваленко Смирнова Кузнецов Бондаренко Попова Петров Їжакевич Јовановић Орлова',
  ),
  other(3, 'محمد فاطمة أحمد مريم يوسف ليلى خالد نور', 'الحسن العلي المنصوري حداد خوري النجار السيد بن‌علي'),
  other(2, 'נועה דוד יעל אורי תמר איתי שרה משה', 'כהן לוי מזרחי פרץ ביטון אברהם פרידמן שגיא'),
  other(4, '伟 芳 秀英 娜 敏 静怡 国强 小龙 雨桐 浩然', '王 李 张 刘 陈 杨 赵 黄 歐陽 司马', 'in-one'),
  other(
    3,
    'さくら 陽翔 美咲 大輔 ゆい 蓮 花子 健太',
    '佐藤 鈴木 髙橋 田中 渡邊 山本 小林 齋藤',
    'family-first',
  ),
  other(2, '민준 서연 지훈 하은 도윤 수빈 예준 지우', '김 이 박 최 정 강 남궁 황보', 'in-one'),
  other(1, 'สมชาย สุดา ณัฐพล กมลวรรณ ปิยะ อรุณี', 'ใจดี ศรีสุข วงศ์ไทย บุญมี ทองคำ แก้วกาญจนา'),
  other(2, 'आरव प्रिया राहुल अनन्या विक्रम ईशा कृष्णा संजय', 'शर्मा सिंह पटेल गुप्ता वर्मा अय्यर जोशी मिश्रा'),
];

/** Makes up guests; a known share have names that are hard to process. */
function createGuests(random: () => number): () => string {
  const pick = createPick(random);
  const byPercent = namePools.flatMap((pool) => Array.from({ length: pool.share }, () => pool));
  const isPeculiar = createEvenSelector(peculiarShare, random);
  let peculiarGuests = 0;

  return () => {
    if (isPeculiar()) {
      peculiarGuests += 1;
      return peculiarNames[(peculiarGuests - 1) % peculiarNames.length] ?? '';
    }
    const pool = pick(byPercent);
    const given = pick(pool.given);
    const family = pick(pool.family);
    const style = pool.isEuropean ? random() : 1;
    if (style < commaShare) return `${family}, ${given}`;
    if (style < commaShare + upperCaseShare) return `${given} ${family}`.toUpperCase();
    switch (pool.order) {
      case 'given-first':
        return `${given} ${family}`;
      case 'family-first':
        return `${family} ${given}`;
      case 'in-one':
        return `${family}${given}`;
    }
  };
}

function european(share: number, given: string, family: string): NamePool {
  return { ...other(share, given, family), isEuropean: true };
}

function other(
  share: number,
  given: string,
  family: string,
  order: NamePool['order'] = 'given-first',
): NamePool {
  return { share, given: given.split(' '), family: family.split(' '), order, isEuropean: false };
}
