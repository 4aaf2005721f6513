import { addTo } from '../../base/group.js';
import { hashReference } from '../../booking/booking.js';
import type { Statement, VerdictWords } from './headings.js';
import { readMail } from './read-mail.js';
import { type MailCell, type MailRecord, UnreadMailError } from './records.js';

/** What a booking that the ledger knows is recognised by. */
export interface KnownBooking {
  readonly reference: string;
  readonly serviceId: number;
  readonly providerHotelId?: string | undefined;
}

/** What the ledger knows of what an e-mail may name. */
export interface KnownThings {
  readonly bookings: readonly KnownBooking[];
  /** The references of the canaries. */
  readonly canaries: readonly string[];
  /** The names of the providers. */
  readonly providers: readonly string[];
}

/** What an e-mail says, without its text. */
export type ExaminedMail = ReturnType<Awaited<ReturnType<typeof openMail>>['match']>;

/** A pair of a provider and its hotel id in a record without a known reference. */
export interface PairMention {
  readonly providerName: string;
  readonly providerHotelId: string;
  /** The master hotel, if it stands under its heading. */
  readonly serviceId?: number;
}

/** More candidates than in a list of 50,000 bookings with all of their fields. */
const mostCandidates = 2_000_000;
/** Pairs that one e-mail may name: more of them are a list of all mappings. */
const mostPairs = 20_000;
/** Evidence in a line of text must be longer than a page number or a number of rooms. */
const shortestEvidence = 3;

/** Reads an e-mail. Both functions throw UnreadMailError. */
export async function openMail(bytes: Buffer, words: VerdictWords) {
  const { records, ...mail } = await readMail(bytes, words);
  return {
    /** Of everything that may be a reference, in ascending order. */
    hashes: hashCandidates(records),
    /** Finds what it names among what is known. */
    match({ bookings, canaries, providers }: KnownThings) {
      const { named, rest, ...found } = matchReferences(records, bookings, canaries);
      const pairs = findPairs(rest, providers);
      if (pairs.length > mostPairs) throw new UnreadMailError('too-many-rows');
      return {
        ...mail,
        ...found,
        /** By their index in the list. */
        named: bookings.flatMap((booking, index) => (named.has(booking) ? [index] : [])),
        pairs,
        /** Whether a row calls something incorrect that is not known. */
        accusesUnknown: rest.some(({ statement }) => statement === 'incorrect'),
      };
    },
  };
}

/** The hashes of everything in an e-mail that may be a reference, in ascending order. */
function hashCandidates(records: readonly MailRecord[]): Uint32Array {
  const hashes = new Set<number>();
  let count = 0;
  for (const record of records)
    for (const { text } of listCandidates(record)) {
      count += 1;
      if (count > mostCandidates) throw new UnreadMailError('too-many-words');
      hashes.add(hashReference(text));
    }
  return Uint32Array.from(hashes).sort();
}

/** Where a record names a known reference. */
interface Hit {
  readonly candidate: Candidate;
  /** None if it names a canary. */
  readonly bookings: readonly KnownBooking[];
  /** Whether the record also has an id of their hotels, which tells one version of a booking from another. */
  readonly isEvident: boolean;
  readonly statement: Statement | undefined;
}

/** Finds the bookings that the records of an e-mail name by their references, among those that its candidates may mean. */
function matchReferences(
  records: readonly MailRecord[],
  bookings: readonly KnownBooking[],
  canaries: readonly string[],
) {
  const known = new Map<string, KnownBooking[]>();
  for (const booking of bookings) addTo(known, booking.reference, booking);
  // A canary is known, but no booking has its reference.
  for (const reference of canaries) known.set(reference, []);
  const mentions = new Map<string, Hit[]>();
  /** Records that name no known booking and call no mapping correct. */
  const rest: MailRecord[] = [];
  for (const record of records) {
    const hits = findHits(record, known);
    if (hits.length === 0 && record.statement !== 'correct') rest.push(record);
    for (const hit of hits) addTo(mentions, hit.candidate.text, hit);
  }
  return { ...judge(mentions), rest };
}

function findHits(record: MailRecord, known: ReadonlyMap<string, readonly KnownBooking[]>): Hit[] {
  const { cells, statement } = record;
  const hits: Hit[] = [];
  let pieces: ReturnType<typeof gatherPieces> | undefined;
  for (const candidate of listCandidates(record)) {
    const { text, cell } = candidate;
    const bookings = known.get(text);
    const kind = cells[cell]?.kind;
    // A value in a column of something else is not a reference.
    if (!bookings || (kind !== undefined && kind !== 'reference')) continue;
    pieces ??= gatherPieces(record);
    const counts = bookings.map((booking) => countEvidence(record, candidate, booking, pieces));
    const most = counts.reduce((a, b) => Math.max(a, b), 0);
    const isCertain =
      !mayBeAccident(text) || (kind === 'reference' && cells[cell]?.text.split('\n').includes(text));
    // A booking may have been sent in several versions, with other hotels: their ids say which is meant.
    const meant = bookings.filter((_, index) => counts[index] === most);
    if (isCertain || most > 0 || bookings.length === 0)
      hits.push({ candidate, bookings: meant, isEvident: most > 0, statement });
  }
  return dropInner(hits);
}

function gatherPieces(record: MailRecord): ReadonlyMap<string, readonly Candidate[]> {
  const pieces = new Map<string, Candidate[]>();
  for (const piece of listCandidates(record)) addTo(pieces, piece.text, piece);
  return pieces;
}

/** How many ids of the booking's hotels, of the provider and the master, the record has apart from the candidate. */
function countEvidence(
  { cells, isStructured }: MailRecord,
  { cell, start, end }: Candidate,
  { providerHotelId = '', serviceId }: KnownBooking,
  pieces: ReadonlyMap<string, readonly Candidate[]> | undefined,
): number {
  const isEvident = (piece: Candidate) => {
    const isApart = piece.cell !== cell || piece.end <= start || piece.start >= end;
    const isWhole = isStructured && cells[piece.cell]?.text === piece.text;
    return isApart && (isWhole || piece.text.length >= shortestEvidence);
  };
  return [String(serviceId), providerHotelId].filter((id) => pieces?.get(id)?.some(isEvident)).length;
}

/** "AB 12" within "AB 12/3" is another reference. */
function dropInner(hits: Hit[]): Hit[] {
  hits.sort(({ candidate: a }, { candidate: b }) => a.cell - b.cell || a.start - b.start || b.end - a.end);
  let widest: Candidate | undefined;
  return hits.filter(({ candidate }) => {
    const isInner =
      widest?.cell === candidate.cell &&
      widest.end >= candidate.end &&
      widest.end - widest.start > candidate.end - candidate.start;
    if (!isInner && (widest?.cell !== candidate.cell || candidate.end > widest.end)) widest = candidate;
    return !isInner;
  });
}

/**
 * An e-mail may list all bookings with their verdicts, and repeat itself as plain text without them: a reference that it calls
 * correct counts as named only if it is also called incorrect.
 */
function judge(mentions: ReadonlyMap<string, readonly Hit[]>) {
  const named = new Set<KnownBooking>();
  const canaries: string[] = [];
  /** How many known references it calls correct. They stay as they were. */
  let correct = 0;
  for (const [reference, found] of mentions) {
    const saying = (wanted: Statement | undefined) => found.filter(({ statement }) => statement === wanted);
    const accused = saying('incorrect');
    const isCanary = found.some(({ bookings }) => bookings.length === 0);
    if (accused.length === 0 && saying('correct').length > 0) correct += isCanary ? 0 : 1;
    else if (isCanary) canaries.push(reference);
    else {
      const naming = accused.length > 0 ? accused : saying(undefined);
      const evident = naming.filter(({ isEvident }) => isEvident);
      for (const { bookings } of evident.length > 0 ? evident : naming)
        for (const booking of bookings) named.add(booking);
    }
  }
  return { named, canaries, correct };
}

/**
 * The pairs that records may name: whole cells of a row, with the name of a provider beside them, under its heading or
 * known.
 */
function findPairs(records: readonly MailRecord[], providers: readonly string[]): PairMention[] {
  const written = new Map(providers.map((name) => [name.toLowerCase(), name]));
  const pairs = new Map<string, PairMention>();
  for (const { cells, isStructured } of records) {
    const provider = isStructured && findProvider(cells, written);
    if (!provider) continue;
    const service = cells.find(({ kind }) => kind === 'service')?.text ?? '';
    for (const providerHotelId of listHotelIds(cells.filter((other) => other !== provider.cell))) {
      const isService = service !== providerHotelId && /^\d{1,15}$/.test(service);
      const pair = {
        ...{ providerName: provider.name, providerHotelId },
        ...(isService && { serviceId: Number(service) }),
      };
      pairs.set(JSON.stringify(pair), pair);
    }
  }
  return [...pairs.values()];
}

function findProvider(cells: readonly MailCell[], written: ReadonlyMap<string, string>) {
  for (const cell of cells) {
    if (cell.kind !== undefined && cell.kind !== 'provider') continue;
    const isHeaded = cell.kind === 'provider' && cell.text !== '';
    const name = written.get(cell.text.toLowerCase()) ?? (isHeaded ? cell.text : undefined);
    if (name !== undefined) return { name, cell };
  }
  return undefined;
}

/** Under its heading, or else in any cell without a known heading: a heading "Hotel id" may mean either hotel. */
function listHotelIds(cells: readonly MailCell[]): readonly string[] {
  const headed = cells.filter(({ kind }) => kind === 'hotel');
  const candidates =
    headed.length > 0 ? headed : cells.filter(({ kind }) => kind === undefined || kind === 'service');
  return candidates.map(({ text }) => text).filter((text) => text !== '' && text.length <= 200);
}

/** A piece of a record that may be a reference or an id. */
interface Candidate {
  readonly text: string;
  /** The cell, and where in it the piece stands. */
  readonly cell: number;
  readonly start: number;
  readonly end: number;
}

/** Where a piece begins in a line, and ends. */
type Span = readonly [start: number, end: number];

/** No reference is longer. */
const longestCandidate = 200;
const mostWords = 3;
/** They may surround a reference, but also belong to it. */
const punctuation = new Set('.,;:!?()[]{}<>"\'«»“”„‘’*_#|=/\\-–—…');
/** They separate values that are written without spaces. They don't include the hyphen and the slash, which references contain. */
const separators = /[,;|=:()[\]<>"“”]/;

/**
 * Everything in a record that may be a reference: each line of its cells, words as written and without the punctuation around them,
 * what separators set apart, and up to three words in sequence.
 */
function* listCandidates({ cells }: MailRecord): Generator<Candidate, void, undefined> {
  for (const [cell, { text }] of cells.entries()) {
    let at = 0;
    // A cell may break a reference.
    if (text.includes('\n') && text.length <= longestCandidate)
      yield { text: normalise(text.replaceAll('\n', '')), cell, start: 0, end: text.length };
    for (const line of text.split('\n')) {
      const words = [...line.matchAll(/\S+/g)].map(
        ({ index, 0: word }): Span => [index, index + word.length],
      );
      for (const index of words.keys())
        for (const [start, end] of listSpans(line, words, index))
          if (end > start && end - start <= longestCandidate)
            yield { text: normalise(line.slice(start, end)), cell, start: at + start, end: at + end };
      at += line.length + 1;
    }
  }
}

/** Mail programs put them into words: soft hyphens, marks of width zero, spaces and hyphens that don't break. */
function normalise(text: string): string {
  if (!/[\u00a0\u00ad\u200b-\u200f\u202f\u2010\u2011\u2060\ufeff]/.test(text)) return text;
  return text
    .replace(/[\u00ad\u200b-\u200f\u2060\ufeff]/g, '')
    .replace(/[\u00a0\u202f]/g, ' ')
    .replace(/[\u2010\u2011]/g, '-');
}

/** The pieces that begin with a word. */
function listSpans(line: string, words: readonly Span[], index: number): Span[] {
  const [start, end] = words[index] ?? [0, 0];
  const spans = listParts(line, start, end);
  for (let last = index; last < Math.min(index + mostWords, words.length); last += 1) {
    const [lastStart, lastEnd] = words[last] ?? [start, end];
    addWithAndWithoutPunctuation(spans, line, start, lastEnd);
    if (last === index) continue;
    // "ref=AB 12;x"
    const [after, before] = [lastSeparator(line, start, end), firstSeparator(line, lastStart, lastEnd)];
    if (after > start || before < lastEnd) spans.push(trim(line, after, before));
  }
  if (index === 0 && words.length > mostWords) spans.push([start, words.at(-1)?.[1] ?? end]);
  return spans;
}

function addWithAndWithoutPunctuation(spans: Span[], line: string, start: number, end: number): void {
  spans.push([start, end]);
  const [from, to] = trim(line, start, end);
  if (from !== start || to !== end) spans.push([from, to]);
}

/** "BR-1,BR-2" and "ref=BR-1" */
function listParts(line: string, start: number, end: number): Span[] {
  const spans: Span[] = [];
  const word = line.slice(start, end);
  if (word.length > longestCandidate * 20 || !separators.test(word)) return spans;
  let at = start;
  for (const part of word.split(separators)) {
    addWithAndWithoutPunctuation(spans, line, at, at + part.length);
    at += part.length + 1;
  }
  return spans;
}

/** Where the rest of a word begins after its last separator. */
function lastSeparator(line: string, start: number, end: number): number {
  for (let at = end - 1; at > start; at -= 1) if (separators.test(line[at - 1] ?? '')) return at;
  return start;
}

function firstSeparator(line: string, start: number, end: number): number {
  for (let at = start + 1; at < end; at += 1) if (separators.test(line[at] ?? '')) return at;
  return end;
}

function trim(line: string, start: number, end: number): Span {
  let [from, to] = [start, end];
  while (from < to && punctuation.has(line[from] ?? '')) from += 1;
  while (to > from && punctuation.has(line[to - 1] ?? '')) to -= 1;
  return [from, to];
}

/**
 * Whether a text could stand in an e-mail without meaning the booking of that reference: a short one, a number or a date, or a
 * plain word.
 */
function mayBeAccident(text: string): boolean {
  if (text.length < 5 || !/\p{L}/u.test(text)) return true;
  return !/\d/.test(text) && text !== text.toUpperCase();
}
