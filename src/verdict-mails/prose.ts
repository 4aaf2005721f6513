/** What a sentence says: about the bookings that it names, or `all-correct` about whatever the e-mail lists. */
export type Said = 'incorrect' | 'correct' | 'all-correct';

/** No sentence about mappings is longer. */
export const longestSentence = 600;

const nouns =
  'mappings?|mapped|bookings?|booked|hotels?|propert(?:y|ies)|reservations?|reservas?|mapeos?|asignaci(?:on|ones)|buchung(?:en)?|zuordnung(?:en)?|' +
  'prenotazion[ei]|mappatur[ae]|correspondances?|mapeamentos?';
const subject = new RegExp(`\\b(?:${nouns})\\b`);
const wrongWords =
  'incorrect(?:ly|[aeo]s?|es)?|incorret[ao]s?|inexact(?:es?|s)?|wrong(?:ly)?|mismatch(?:es|ed)?|erroneous|erron(?:ea|eo|ee)s?|errat[aeio]|errad[ao]s?|' +
  'sbagliat[aeio]|falsch(?:en?|er|es)?|fehlerhaft(?:en?|er|es)?|faux|fausses?';
const wrong = new RegExp(`\\b(?:${wrongWords})\\b`);
const rightWords =
  'correct(?:ly|[aeo]s?|es)?|corrett[aeio]|corret[ao]s?|right|valid|fine|ok(?:ay)?|bien|richtig|korrekt|in ordnung|justes?|exacte?s?|giust[aeio]|cert[ao]s?';
const all = 'all|every|everything|tod[ao]s|alle|alles|tou(?:te)?s|tutt[aei]';
const being =
  "is|are|was|were|looks?|seems?|es|son|esta|estan|ist|sind|waren|est|sont|sono|e'|estao|sao|all|both|every|tod[ao]s|alle|tou(?:te)?s|tutt[aei]";
/** "is correct" and "all mappings correct", but neither "the correct hotel" nor "to correct". */
const right = new RegExp(
  `\\b(?:${being})(?: (?:of|them|these|those|now|indeed|${all}|${nouns}))* (?:${rightWords})\\b|` +
    `\\b(?:correctly|properly) mapped\\b|\\bmapped (?:correctly|properly)\\b|\\b(?:korrekt|richtig) zugeordnet\\b`,
);
const quantified = new RegExp(`\\b(?:${all})\\b`);
/** "All are correct" speaks of what the e-mail lists; "all prices are correct" doesn't. */
const quantifiedItself = new RegExp(
  `\\b(?:${all})(?: (?:of|them|these|those|is|are|was|were|son|estan|sind|sont|sono|sao|now))* (?:${rightWords})\\b`,
);
const negations =
  'no|none|not|zero|0|without|nothing|ningun[ao]?|sin|kein(?:e[nr]?)?|aucune?|nessun[aoi]?|nenhum[a]?|sem|sans';
const between = `of|the|them|these|those|any|an?|have|has|had|find|found|detect(?:ed)?|with|is|are|was|were|which|whose|that|se|han?|encontrad[ao]s?|une?|mit|${nouns}`;
/** "No incorrect mappings were found", "0 bookings with an incorrect mapping" */
const denial = new RegExp(`\\b(?:${negations})(?: (?:${between})){0,7} (?:${wrongWords})\\b`, 'g');
/** "not correct", "isn't correctly mapped", "not mapped correctly" */
const negatedRight = new RegExp(
  `\\b(?:not|no|nicht|non|nao|pas|isn't|aren't|wasn't|weren't)(?: (?:all|been|being|mapped|e|es|son|esta|estan|sind|ist))* (?:${rightWords})\\b`,
);
/** Conditions and requests say nothing about the bookings themselves. */
const condition =
  /\b(?:if|whether|unless|until|check|verify|confirm|ensure|make sure|should|could|can|may|might|si|ob|wenn|falls|se)\b/;
/** "All others are correct" */
const exception =
  /\b(?:except|others?|otherwise|rest|remaining|apart|besides|must|would|cannot|salvo|excepto|otr[ao]s|demas|resto|ausser|anderen?|ubrigen|sauf|autres|tranne|altr[aei]|exceto|outr[ao]s)\b/;

/** What a sentence of prose says about mappings; undefined where it says nothing, or nothing certain. */
export function readSentence(written: string): Said | undefined {
  if (written.length > longestSentence) return undefined;
  const text = fold(written);
  const affirmed = text.replace(denial, ' ');
  const isDenied = affirmed !== text;
  if (condition.test(affirmed)) return undefined;
  if (wrong.test(affirmed) || negatedRight.test(affirmed))
    return right.test(affirmed.replace(negatedRight, ' ')) ? undefined : 'incorrect';
  if (exception.test(affirmed)) return undefined;
  if (isDenied) return subject.test(text) ? 'all-correct' : undefined;
  if (!right.test(affirmed)) return undefined;
  if (!quantified.test(affirmed)) return 'correct';
  return quantifiedItself.test(affirmed) || subject.test(affirmed) ? 'all-correct' : undefined;
}

/** The ends of sentences, and words between two statements: "BR-1 is correct, but BR-2 is wrong". */
const clauseEnd =
  /(?<=[.!?;])\s+|,?\s+(?=(?:but|while|whereas|however|pero|mientras|aber|wahrend|während|mais|tandis|mentre|mas|enquanto)\s)/i;

export function splitClauses(line: string): string[] {
  if (line.length > longestSentence) return [line];
  return line.split(clauseEnd).filter((clause) => clause.trim() !== '');
}

function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[’`´]/g, "'")
    .replace(/[*_"“”„«»()[\]]/g, ' ')
    .replace(/[\s,]+/g, (gap) => (gap.includes(',') ? ' , ' : ' '))
    .toLowerCase()
    .trim();
}
