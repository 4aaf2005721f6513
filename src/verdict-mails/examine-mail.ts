import { hashReference } from '../booking/booking-keys.js';
import { type Candidate, listCandidates, mayBeAccident } from './candidates.js';
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

/** @param hashes of everything that may be a reference, in ascending order */
export type LookUp = (hashes: Uint32Array) => Promise<KnownThings>;

/** What an e-mail says, without its text. */
export type ExaminedMail = Awaited<ReturnType<typeof examineMail>>;

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

/**
 * Reads an e-mail, and finds what it names among what is known.
 *
 * @throws UnreadMailError
 */
export async function examineMail(bytes: Buffer, words: VerdictWords, lookUp: LookUp) {
  const { records, ...mail } = await readMail(bytes, words);
  const { bookings, canaries, providers } = await lookUp(hashCandidates(records));
  const { named, rest, ...found } = matchReferences(records, bookings, canaries);
  const pairs = findPairs(rest, providers);
  if (pairs.length > mostPairs) throw new UnreadMailError('too-many-rows');
  return {
    ...mail,
    ...found,
    /** By their place in the list. */
    named: bookings.flatMap((booking, place) => (named.has(booking) ? [place] : [])),
    pairs,
    /** Whether a row calls something incorrect that is not known. */
    accusesUnknown: rest.some(({ statement }) => statement === 'incorrect'),
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

interface Mention {
  /** None if it names a canary. */
  readonly bookings: readonly KnownBooking[];
  /** Whether the record also has an id of their hotels, which tells one version of a booking from another. */
  readonly isEvident: boolean;
  readonly statement: Statement | undefined;
}

interface Hit extends Mention {
  readonly candidate: Candidate;
}

/** Finds the bookings that the records of an e-mail name by their references, among those that its candidates may mean. */
function matchReferences(
  records: readonly MailRecord[],
  bookings: readonly KnownBooking[],
  canaries: readonly string[],
) {
  const known = new Map<string, KnownBooking[]>();
  for (const booking of bookings) add(known, booking.reference, booking);
  // A canary is known, but no booking has its reference.
  for (const reference of canaries) known.set(reference, []);
  const mentions = new Map<string, Mention[]>();
  /** Records that name no known booking and call no mapping correct. */
  const rest: MailRecord[] = [];
  for (const record of records) {
    const hits = findHits(record, known);
    if (hits.length === 0 && record.statement !== 'correct') rest.push(record);
    for (const hit of hits) add(mentions, hit.candidate.text, hit);
  }
  return { ...judge(mentions), rest };
}

function add<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

function findHits(record: MailRecord, known: ReadonlyMap<string, readonly KnownBooking[]>): Hit[] {
  const { cells, statement } = record;
  const hits: Hit[] = [];
  let pieces: Map<string, Candidate[]> | undefined;
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

function gatherPieces(record: MailRecord): Map<string, Candidate[]> {
  const pieces = new Map<string, Candidate[]>();
  for (const piece of listCandidates(record)) add(pieces, piece.text, piece);
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
function judge(mentions: ReadonlyMap<string, readonly Mention[]>) {
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
