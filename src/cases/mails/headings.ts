import type { ServiceField } from '../../booking/booking.js';
import { fieldSynonyms, simplifyName } from '../../booking/match-columns.js';

/** What a column with verdicts says about the mapping of its row's booking. */
export type Statement = 'incorrect' | 'correct';

/**
 * What a heading or a label announces. The last three are columns with verdicts: `correct` where a word for yes means that the
 * mapping is correct, `incorrect` where it means the opposite, `status` where the words alone decide.
 */
export type HeadingKind =
  | 'reference'
  | 'provider'
  | 'hotel'
  | 'service'
  | 'other'
  | 'correct'
  | 'incorrect'
  | 'status';

/** How verdicts are written: the settings of the result file apply to e-mails, too. */
export interface VerdictWords {
  /** The name of the column with the verdicts. */
  readonly resultColumn: string;
  readonly resultValues: Readonly<Record<Statement, readonly (string | number | boolean)[]>>;
  /** The name of the master id's column. */
  readonly masterIdColumn: string;
}

export type Headings = ReturnType<typeof createHeadings>;

/** No heading is longer, and no verdict. */
const longestHeading = 60;

const kindOfField: { readonly [Field in ServiceField]?: HeadingKind } = {
  ServiceId: 'service',
  BookingReferenceId: 'reference',
  ProviderName: 'provider',
  ProviderHotelId: 'hotel',
};

const moreNames: { readonly [Kind in HeadingKind]?: string } = {
  status: 'verdict mappingverdict mappingstatus mappingresult reviewresult reviewstatus status result',
  incorrect:
    'isincorrectmapping isincorrect incorrect incorrectmapping mappingincorrect mappingisincorrect incorrectmappings wrong wrongmapping ' +
    'wrongmappings wronglymapped incorrectlymapped iswrong affected isaffected affectedbookings mismatch notcorrect notcorrectmapping notcorrectmappings notcorrectlymapped',
  correct:
    'iscorrectmapping iscorrect correct correctmapping mappingcorrect mappingiscorrect ismappingcorrect correctmappings correctlymapped ' +
    'correctbookings verified',
  reference:
    'booking bookings bookingreferences bookingids bookingreferenceids bookingnumbers references reservation reservations pnr ' +
    'confirmationnumber bookingconfirmation bookingconfirmationnumber clientreference clientref agencyreference reserva reservas buchung ' +
    'buchungen prenotazione',
};

/** In a column of any status, other words may say something else: "OK" that a booking is confirmed, for example. */
const plainWords: Readonly<Record<Statement, string>> = {
  correct: 'correct true valid correcto correcta richtig korrekt ✓ ✔ ✅',
  incorrect: 'incorrect false invalid wrong mismatch incorrecto incorrecta falsch ✗ ✘ ✖ ❌',
};
/** They answer a heading. */
const answers: Readonly<Record<Statement, string>> = {
  correct: 'right ok yes y 1 si ja oui vrai',
  incorrect: 'no n 0 nein non falso faux',
};
/** They say nothing by themselves: "Mapping is correct". */
const fillers = new Set('mapping mappings is the of hotel booking a'.split(' '));

const plainStatuses = new Set(`${plainWords.correct} ${plainWords.incorrect}`.split(' '));
const statementOf = new Map<string, Statement>();
for (const statement of ['correct', 'incorrect'] as const)
  for (const word of `${plainWords[statement]} ${answers[statement]}`.split(' '))
    statementOf.set(word, statement);

/** Reads headings of tables and labels of references, in the languages of `fieldSynonyms`. */
export function createHeadings({ resultColumn, resultValues, masterIdColumn }: VerdictWords) {
  const kinds = new Map<string, HeadingKind>();
  const name = (kind: HeadingKind, names: readonly string[]) => {
    for (const one of names) kinds.set(one, kind);
  };
  for (const kind of ['status', 'incorrect', 'correct'] as const)
    name(kind, moreNames[kind]?.split(' ') ?? []);
  for (const [field, synonyms] of Object.entries(fieldSynonyms) as [ServiceField, readonly string[]][])
    name(kindOfField[field] ?? 'other', [simplifyName(field), ...synonyms]);
  name('reference', moreNames.reference?.split(' ') ?? []);
  name('service', [simplifyName(masterIdColumn)]);
  name('correct', [simplifyName(resultColumn)]);
  const configured = new Map<string, Statement>();
  for (const statement of ['correct', 'incorrect'] as const)
    for (const word of resultValues[statement]) configured.set(fold(String(word)), statement);

  return {
    /** Undefined for a text that is not a known heading. */
    read: (text: string) => (text.length > longestHeading ? undefined : kinds.get(simplifyName(text))),
    /** What a cell in a column says; undefined where that can't be read, or is no verdict. */
    judge(kind: HeadingKind | undefined, text: string): Statement | undefined {
      if (!isVerdict(kind) || text.length > longestHeading) return undefined;
      const word = fold(text);
      const known = configured.get(word) ?? readWord(word);
      if (kind === 'status') return plainStatuses.has(word) || word.includes(' ') ? known : undefined;
      // In a column "Incorrect", "incorrect" says what it says, while "yes" and "no" answer the heading.
      const isPlain = /correct|valid|wrong|mismatch|korrekt|richtig|falsch/.test(word);
      if (kind === 'correct' || known === undefined || isPlain) return known;
      return known === 'correct' ? 'incorrect' : 'correct';
    },
  };
}

export function isVerdict(kind: HeadingKind | undefined): boolean {
  return kind === 'correct' || kind === 'incorrect' || kind === 'status';
}

/** Columns that only the files of an export have: they list all mappings, and accuse none. (Spec 2.7.) */
const exportColumns = [
  ['modifiedon', 'channelids'],
  ['modifiedon', 'providerlocationid'],
  ['hotelname', 'addressline1', 'citylocationid'],
];

/** Whether a row has the headings of an exported file, which the service sends by e-mail as well. */
export function isExportHeading(row: readonly string[]): boolean {
  const names = new Set(row.map(simplifyName));
  return exportColumns.some((columns) => columns.every((column) => names.has(column)));
}

function readWord(folded: string): Statement | undefined {
  const [word = '', ...others] = folded.split(' ').filter((one) => !fillers.has(one));
  if (others.length === 0) return statementOf.get(word);
  const isDenied = word === 'not' && others.length === 1 && statementOf.get(others[0] ?? '') === 'correct';
  return isDenied ? 'incorrect' : undefined;
}

function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[.!:;\s]+/g, ' ')
    .trim();
}
