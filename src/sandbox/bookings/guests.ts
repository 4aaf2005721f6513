import { createEvenSelector, createPick } from '../common/random.js';

/** The share of guests whose names often break programs. */
const peculiarShare = 0.06;
const upperCaseShare = 0.05;
const commaShare = 0.03;

/** Names with a comma inside, family name first. */
export const namesWithComma = ['García, Luis', "O'Neill, Siobhán", 'Müller, Jörg'] as const;
/** Names with double quotes inside. */
export const namesWithQuotes = ['Zoë "Zo" Brandt', 'William "Bill" Hart', 'José "Pepe" Núñez'] as const;

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
  {
    share: 3,
    given: words('محمد فاطمة أحمد مريم يوسف ليلى خالد نور'),
    family: words('الحسن العلي المنصوري حداد خوري النجار السيد بن‌علي'),
    order: 'given-first',
    isEuropean: false,
  },
  {
    share: 2,
    given: words('נועה דוד יעל אורי תמר איתי שרה משה'),
    family: words('כהן לוי מזרחי פרץ ביטון אברהם פרידמן שגיא'),
    order: 'given-first',
    isEuropean: false,
  },
  {
    share: 4,
    given: words('伟 芳 秀英 娜 敏 静怡 国强 小龙 雨桐 浩然'),
    family: words('王 李 张 刘 陈 杨 赵 黄 歐陽 司马'),
    order: 'in-one',
    isEuropean: false,
  },
  {
    share: 3,
    given: words('さくら 陽翔 美咲 大輔 ゆい 蓮 花子 健太'),
    family: words('佐藤 鈴木 髙橋 田中 渡邊 山本 小林 齋藤'),
    order: 'family-first',
    isEuropean: false,
  },
  {
    share: 2,
    given: words('민준 서연 지훈 하은 도윤 수빈 예준 지우'),
    family: words('김 이 박 최 정 강 남궁 황보'),
    order: 'in-one',
    isEuropean: false,
  },
  {
    share: 1,
    given: words('สมชาย สุดา ณัฐพล กมลวรรณ ปิยะ อรุณี'),
    family: words('ใจดี ศรีสุข วงศ์ไทย บุญมี ทองคำ แก้วกาญจนา'),
    order: 'given-first',
    isEuropean: false,
  },
  {
    share: 2,
    given: words('आरव प्रिया राहुल अनन्या विक्रम ईशा कृष्णा संजय'),
    family: words('शर्मा सिंह पटेल गुप्ता वर्मा अय्यर जोशी मिश्रा'),
    order: 'given-first',
    isEuropean: false,
  },
];

/** Makes up guests; a known share have names that are hard to process. */
export function createGuests(random: () => number): () => string {
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
  return { share, given: words(given), family: words(family), order: 'given-first', isEuropean: true };
}

function words(text: string): readonly string[] {
  return text.split(' ');
}
