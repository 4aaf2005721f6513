import type { ServiceField } from '../booking/booking.js';
import { fieldSynonyms, simplifyName } from '../booking/match-columns.js';
import type { HeadingKind, Statement, VerdictKind } from './mail-record.js';

/** How verdicts are written: the settings of the result file apply to e-mails, too. */
export interface VerdictWords {
  /** The name of the column with the verdicts. */
  readonly resultColumn: string;
  readonly resultValues: {
    readonly correct: readonly (string | number | boolean)[];
    readonly incorrect: readonly (string | number | boolean)[];
  };
  /** The name of the master id's column. */
  readonly masterIdColumn: string;
}

export interface Headings {
  /** Undefined for a text that is not a known heading. */
  read(text: string): HeadingKind | undefined;
  /** What a cell in a column with verdicts says; undefined where that can't be read. */
  judge(kind: VerdictKind, text: string): Statement | undefined;
}

/** No heading is longer, and no verdict. */
const longestHeading = 60;

const kindOfField: Readonly<Record<ServiceField, HeadingKind>> = {
  ServiceId: 'service',
  BookingReferenceId: 'reference',
  BookingClientName: 'other',
  ProviderName: 'provider',
  ProviderHotelId: 'hotel',
  CheckInDate: 'other',
  CheckOutDate: 'other',
};

const verdictHeadings: Readonly<Record<VerdictKind, string>> = {
  correct:
    'iscorrectmapping iscorrect correct correctmapping mappingcorrect mappingiscorrect ismappingcorrect correctmappings correctlymapped ' +
    'correctbookings verified',
  incorrect:
    'isincorrectmapping isincorrect incorrect incorrectmapping mappingincorrect mappingisincorrect incorrectmappings wrong wrongmapping ' +
    'wrongmappings wronglymapped incorrectlymapped iswrong affected isaffected affectedbookings mismatch notcorrect notcorrectmapping notcorrectmappings notcorrectlymapped',
  status: 'verdict mappingverdict mappingstatus mappingresult reviewresult reviewstatus status result',
};

const correctWords = words(
  'correct true valid right ok yes y 1 correcto correcta si ja oui vrai richtig korrekt ✓ ✔ ✅',
);
const incorrectWords = words(
  'incorrect false invalid wrong mismatch no n 0 incorrecto incorrecta nein non falsch falso faux ✗ ✘ ✖ ❌',
);
/** In a column of any status, other words may say something else: that a booking is confirmed, for example. */
const plainStatuses = words(
  'correct true valid correcto correcta richtig korrekt incorrect false invalid wrong mismatch incorrecto incorrecta falsch ✓ ✔ ✅ ✗ ✘ ✖ ❌',
);
/** They say nothing by themselves: "Mapping is correct". */
const fillers = words('mapping mappings is the of hotel booking a');

/** Reads headings of tables and labels of references, in the languages of `fieldSynonyms`. */
export function createHeadings({ resultColumn, resultValues, masterIdColumn }: VerdictWords): Headings {
  const kinds = new Map<string, HeadingKind>();
  for (const kind of ['status', 'incorrect', 'correct'] as const)
    for (const name of verdictHeadings[kind].split(' ')) kinds.set(name, kind);
  for (const [field, synonyms] of Object.entries(fieldSynonyms) as [ServiceField, readonly string[]][])
    for (const name of [simplifyName(field), ...synonyms]) kinds.set(name, kindOfField[field]);
  for (const name of moreReferences.split(' ')) kinds.set(name, 'reference');
  kinds.set(simplifyName(masterIdColumn), 'service');
  kinds.set(simplifyName(resultColumn), 'correct');
  const configured = new Map<string, Statement>();
  for (const statement of ['correct', 'incorrect'] as const)
    for (const word of resultValues[statement]) configured.set(fold(String(word)), statement);

  return {
    read: (text) => (text.length > longestHeading ? undefined : kinds.get(simplifyName(text))),
    judge(kind, text) {
      if (text.length > longestHeading) return undefined;
      const word = fold(text);
      const known = configured.get(word) ?? readWord(word);
      switch (kind) {
        case 'correct':
          return known;
        case 'incorrect':
          return known === undefined || isWordOfMapping(word) ? known : opposite(known);
        case 'status':
          return plainStatuses.has(word) || word.includes(' ') ? known : undefined;
      }
    },
  };
}

const moreReferences =
  'booking bookings bookingreferences bookingids bookingreferenceids bookingnumbers references reservation reservations pnr ' +
  'confirmationnumber bookingconfirmation bookingconfirmationnumber clientreference clientref agencyreference reserva reservas buchung ' +
  'buchungen prenotazione';

/** Columns that only the files of an export have: they list all mappings, and accuse none. (Spec 2.7.) */
const exportColumns = [
  ['modifiedon', 'channelids'],
  ['modifiedon', 'providerlocationid'],
  ['hotelname', 'addressline1', 'citylocationid'],
];

/** Whether a row has the headings of an exported file, which the service sends by e-mail as well. */
export function isExportHeading(row: readonly string[]): boolean {
  const names = new Set(row.map(simplifyName));
  return exportColumns.some((columns) => columns.every((name) => names.has(name)));
}

/** In a column "Incorrect", "incorrect" says what it says, while "yes" and "no" answer the heading. */
function isWordOfMapping(word: string): boolean {
  return /correct|valid|wrong|mismatch|korrekt|richtig|falsch/.test(word);
}

function opposite(statement: Statement): Statement {
  return statement === 'correct' ? 'incorrect' : 'correct';
}

function readWord(folded: string): Statement | undefined {
  const rest = folded.split(' ').filter((word) => !fillers.has(word));
  const [word = '', ...others] = rest;
  if (word === 'not' && others.length === 1 && correctWords.has(others[0] ?? '')) return 'incorrect';
  if (others.length > 0) return undefined;
  if (correctWords.has(word)) return 'correct';
  return incorrectWords.has(word) ? 'incorrect' : undefined;
}

function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[.!:;\s]+/g, ' ')
    .trim();
}

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(' '));
}
