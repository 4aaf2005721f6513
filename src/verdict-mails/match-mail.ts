import { hashReference } from '../booking/reference-hash.js';
import { type Candidate, forEachCandidate, mayBeAccident } from './candidates.js';
import type { MailCell, MailRecord } from './mail-record.js';
import { UnreadableMailError } from './unreadable-mail.js';

/** More candidates than in a list of 50,000 bookings with all of their fields. */
export const maxCandidates = 2_000_000;

/** What a booking that the ledger knows is recognised by. */
export interface KnownBooking {
  readonly reference: string;
  readonly serviceId: number;
  readonly providerHotelId?: string | undefined;
}

export interface MatchedReferences<Known extends KnownBooking> {
  /** Bookings whose mapping the e-mail calls incorrect, or that it just names. */
  readonly named: readonly Known[];
  /** The references of the canaries that it names in the same way. */
  readonly canaries: readonly string[];
  /** Known references whose rows it calls correct. They stay as they were. */
  readonly correct: number;
  /** Records that name no known booking and call no mapping correct. */
  readonly rest: readonly MailRecord[];
}

interface Mention<Known> {
  /** None if it names a canary. */
  readonly bookings: readonly Known[];
  /** Whether the record also has an id of their hotels, which tells one version of a booking from another. */
  readonly isEvident: boolean;
  readonly record: MailRecord;
}

/** Finds the bookings that the records of an e-mail name by their references, among those that its candidates may mean. */
export function matchReferences<Known extends KnownBooking>(
  records: readonly MailRecord[],
  bookings: readonly Known[],
  canaries: readonly string[] = [],
): MatchedReferences<Known> {
  const known = new Map<string, Known[]>();
  for (const booking of bookings) {
    const same = known.get(booking.reference);
    if (same) same.push(booking);
    else known.set(booking.reference, [booking]);
  }
  // A canary is known, but no booking has its reference.
  for (const reference of canaries) known.set(reference, []);
  const mentions = new Map<string, Mention<Known>[]>();
  const rest: MailRecord[] = [];
  for (const record of records) {
    const hits = findHits(record, known);
    if (hits.length === 0 && record.statement !== 'correct') rest.push(record);
    for (const { candidate, bookings: meant, isEvident } of hits) {
      const of = mentions.get(candidate.text) ?? [];
      of.push({ bookings: meant, isEvident, record });
      mentions.set(candidate.text, of);
    }
  }
  return { ...judge(mentions), rest };
}

/** The hashes of everything in an e-mail that may be a reference, in ascending order. */
export function hashCandidates(records: readonly MailRecord[]): Uint32Array {
  const hashes = new Set<number>();
  let count = 0;
  for (const record of records)
    forEachCandidate(record, ({ text }) => {
      count += 1;
      if (count > maxCandidates) throw new UnreadableMailError('too-many-words');
      hashes.add(hashReference(text));
    });
  return Uint32Array.from(hashes).sort();
}

interface Hit<Known> extends Pick<Mention<Known>, 'bookings' | 'isEvident'> {
  readonly candidate: Candidate;
}

function findHits<Known extends KnownBooking>(
  record: MailRecord,
  known: ReadonlyMap<string, Known[]>,
): Hit<Known>[] {
  if (known.size === 0) return [];
  const hits: Hit<Known>[] = [];
  const evidence = createEvidence(record);
  forEachCandidate(record, (candidate) => {
    const bookings = known.get(candidate.text);
    const kind = record.cells[candidate.cell]?.kind;
    // A value in a column of something else is not a reference.
    if (bookings === undefined || (kind !== undefined && kind !== 'reference')) return;
    const meant = bookings.filter((booking) => isMeant(record, candidate, booking, evidence));
    if (meant.length > 0 || isCanary(bookings))
      hits.push({ candidate, ...preferEvident(candidate, meant, evidence) });
  });
  return dropInner(hits);
}

function isCanary(bookings: readonly unknown[]): boolean {
  return bookings.length === 0;
}

/** "AB 12" within "AB 12/3" is another reference. */
function dropInner<Known>(hits: Hit<Known>[]): Hit<Known>[] {
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

/** How many ids of the booking's hotels the record has, apart from the candidate. */
type Evidence = (candidate: Candidate, booking: KnownBooking) => number;

function isMeant(
  record: MailRecord,
  candidate: Candidate,
  booking: KnownBooking,
  evidence: Evidence,
): boolean {
  if (!mayBeAccident(candidate.text)) return true;
  const cell = record.cells[candidate.cell];
  if (cell?.kind === 'reference' && cell.text.split('\n').includes(candidate.text)) return true;
  return evidence(candidate, booking) > 0;
}

/** Evidence in a line of text must be longer than a page number or a number of rooms. */
const shortestEvidence = 3;

/** Looks for the booking's hotel ids of the provider and the master. */
function createEvidence(record: MailRecord): Evidence {
  let pieces: Map<string, Candidate[]> | undefined;
  const gather = () => {
    const gathered = new Map<string, Candidate[]>();
    forEachCandidate(record, (piece) => {
      const same = gathered.get(piece.text);
      if (same) same.push(piece);
      else gathered.set(piece.text, [piece]);
    });
    return gathered;
  };
  return ({ cell, start, end }, { providerHotelId, serviceId }) => {
    pieces ??= gather();
    const found = [String(serviceId), providerHotelId ?? ''].map((id) => pieces?.get(id));
    const isEvident = (piece: Candidate) => {
      const isApart = piece.cell !== cell || piece.end <= start || piece.start >= end;
      const isWhole = record.isStructured && record.cells[piece.cell]?.text === piece.text;
      return isApart && (isWhole || piece.text.length >= shortestEvidence);
    };
    return found.filter((same) => same?.some(isEvident)).length;
  };
}

/** A booking may have been sent in several versions, with other hotels: their ids say which is meant. */
function preferEvident<Known extends KnownBooking>(
  candidate: Candidate,
  bookings: readonly Known[],
  evidence: Evidence,
): Pick<Mention<Known>, 'bookings' | 'isEvident'> {
  const counts = bookings.map((booking) => evidence(candidate, booking));
  const most = counts.reduce((a, b) => Math.max(a, b), 0);
  return { bookings: bookings.filter((_, index) => counts[index] === most), isEvident: most > 0 };
}

/**
 * An e-mail may list all bookings with their verdicts, and repeat itself as plain text without them: a reference that it calls
 * correct counts as named only if it is also called incorrect.
 */
function judge<Known extends KnownBooking>(mentions: ReadonlyMap<string, readonly Mention<Known>[]>) {
  const named = new Set<Known>();
  const canaries: string[] = [];
  let correct = 0;
  for (const [reference, found] of mentions) {
    const saying = (statement: MailRecord['statement']) =>
      found.filter(({ record }) => record.statement === statement);
    const accused = saying('incorrect');
    const plain = saying(undefined);
    const isCleared = accused.length === 0 && saying('correct').length > 0;
    if (found.some(({ bookings }) => isCanary(bookings))) {
      if (!isCleared) canaries.push(reference);
    } else if (isCleared) correct += 1;
    else {
      const naming = accused.length > 0 ? accused : plain;
      const evident = naming.filter(({ isEvident }) => isEvident);
      for (const { bookings } of evident.length > 0 ? evident : naming)
        for (const booking of bookings) named.add(booking);
    }
  }
  return { named: [...named], canaries, correct };
}

/** A pair of a provider and its hotel id in a record without a known reference. */
export interface PairMention {
  readonly providerName: string;
  readonly providerHotelId: string;
  /** The master hotel, if it stands under its heading. */
  readonly serviceId?: number;
}

/**
 * The pairs that records may name: whole cells of a row, with the name of a provider beside them, under its heading or
 * known.
 */
export function findPairs(records: readonly MailRecord[], providers: readonly string[]): PairMention[] {
  const written = new Map(providers.map((name) => [name.toLowerCase(), name]));
  const pairs = new Map<string, PairMention>();
  for (const record of records) {
    if (!record.isStructured) continue;
    const provider = findProvider(record.cells, written);
    if (!provider) continue;
    const { name, cell } = provider;
    const service = record.cells.find(({ kind }) => kind === 'service')?.text;
    for (const id of listHotelIds(record.cells.filter((other) => other !== cell))) {
      const serviceId =
        service !== undefined && service !== id && /^\d{1,15}$/.test(service) ? Number(service) : undefined;
      const pair = { providerName: name, providerHotelId: id, ...(serviceId !== undefined && { serviceId }) };
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
