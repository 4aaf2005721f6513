import { forEachLine } from '../../booking/stored-line.js';
import {
  createKeyHasher,
  createKeyTable,
  createNumberList,
  type KeyTable,
  type NumberList,
} from './key-table.js';
import type { JoinSources } from './match-result.js';
import {
  addVerdicts,
  type BookingGroups,
  createGroups,
  otherThanReference,
  type RowIndex,
  verdictBits,
} from './row-index.js';
import { createKeyReader, type KeyField, readSentText, spellingOf } from './sent-lines.js';

/** What rows without an exact match say, and about which bookings: by the rules of startJoin. */
interface LooseRows extends Candidates {
  /** The master ids that such rows call correct, each with the group of the reference. */
  readonly correctMappings: KeyTable;
  /** How many rows match a booking, */
  readonly loose: number;
  /** and how many do not. */
  readonly foreign: number;
}

/** The bookings that rows without an exact match may mean. */
interface Candidates {
  /** By reference; those without an exact match wait for verdicts. */
  readonly byReference: BookingGroups;
  /** What the spellings of a reference have in common, */
  readonly spellings: KeyTable;
  /** and the only reference spelled like that: one more than the number of its group; or `ambiguous`. */
  readonly referenceOfSpelling: NumberList;
  /** Those whose reference was erased since, by their other ids. */
  readonly byOtherIds: BookingGroups;
  readonly otherIds: readonly KeyField[];
}

/** Nobody knows which of the references is meant. */
const ambiguous = 0xffffffff;

/** Matches the rows without an exact match. Reads the sent bookings once more if one of these rows has a reference. */
export async function matchLooseRows(index: RowIndex, readSent: JoinSources['readSent']): Promise<LooseRows> {
  const unmatched = listUnmatched(index);
  const candidates = await findCandidates(index, unmatched, readSent);
  return assignRows(index, unmatched, candidates);
}

/** The groups of rows without a booking. */
function listUnmatched({ keys, bookings }: RowIndex): readonly number[] {
  const unmatched: number[] = [];
  for (let group = 0; group < keys.size; group += 1) if (bookings.get(group) === 0) unmatched.push(group);
  return unmatched;
}

async function findCandidates(
  index: RowIndex,
  unmatched: readonly number[],
  readSent: JoinSources['readSent'],
): Promise<Candidates> {
  const otherIds = otherThanReference(index.key);
  const [byReference, byOtherIds] = [createGroups(), createGroups()];
  const [spellings, referenceOfSpelling] = [createKeyTable(), createNumberList()];
  const hasher = createKeyHasher();
  const readKey = createKeyReader(index.key);
  const readReference = createKeyReader(['bookingReferenceId']);
  const readOtherIds = createKeyReader(otherIds);

  const hasExactMatch = (lines: Buffer, start: number) =>
    index.keys.find(readKey(lines, start)) !== undefined;

  function add(lines: Buffer, start: number): void {
    const text = readSentText(lines, start, 'bookingReferenceId');
    if (text === '') {
      if (!hasExactMatch(lines, start))
        byOtherIds.bookings.add(byOtherIds.keys.findOrAdd(readOtherIds(lines, start)), 1);
      return;
    }
    const spelling = spellings.find(hasher.hash(spellingOf(text)));
    if (spelling === undefined) return;
    const reference = byReference.keys.findOrAdd(readReference(lines, start));
    if (!hasExactMatch(lines, start)) byReference.bookings.add(reference, 1);
    const known = referenceOfSpelling.get(spelling);
    referenceOfSpelling.set(spelling, known === 0 || known === 1 + reference ? 1 + reference : ambiguous);
  }

  for (const group of unmatched) {
    const spelling = index.spellings.get(group);
    if (spelling) spellings.findOrAdd(spelling);
  }
  if (spellings.size > 0)
    for await (const { lines } of readSent()) forEachLine(lines, (start) => add(lines, start));
  return { byReference, spellings, referenceOfSpelling, byOtherIds, otherIds };
}

/** Gives the verdicts of these rows to the bookings that they mean. */
function assignRows(index: RowIndex, unmatched: readonly number[], candidates: Candidates): LooseRows {
  const { byReference, byOtherIds } = candidates;
  const correctMappings = createKeyTable();
  const hasher = createKeyHasher();
  let loose = 0;
  let foreign = 0;

  /** "Correct" is about the master hotel of the row, and says nothing readable about another one. */
  function addToReference(reference: number, verdicts: number, serviceId: number): void {
    const { correct, unclear } = verdictBits;
    const isOfMapping = serviceId !== 0 && (verdicts & correct) !== 0;
    if (isOfMapping) correctMappings.findOrAdd(hasher.hash(String(serviceId), String(reference)));
    addVerdicts(byReference, reference, isOfMapping ? (verdicts & ~correct) | unclear : verdicts);
  }

  for (const group of unmatched) {
    const verdicts = index.verdicts.get(group);
    const reference = findReference(index, group, candidates);
    const ids = index.otherIds.get(group);
    const erased = ids && byOtherIds.keys.find(ids);
    if (reference === undefined && erased === undefined) {
      foreign += index.rows.get(group);
      continue;
    }
    loose += index.rows.get(group);
    if (reference !== undefined) addToReference(reference, verdicts, index.serviceIds.get(group));
    else if (erased !== undefined) addVerdicts(byOtherIds, erased, verdicts);
  }
  return { ...candidates, correctMappings, loose, foreign };
}

/** The reference that the rows of a group mean: the very one, or the only one that differs in its spelling. */
function findReference(
  { references, spellings: spellingsOfRows }: RowIndex,
  group: number,
  { byReference, spellings, referenceOfSpelling }: Candidates,
): number | undefined {
  const [written, spelled] = [references.get(group), spellingsOfRows.get(group)];
  const exact = written && byReference.keys.find(written);
  if (exact !== undefined) return exact;
  const spelling = spelled && spellings.find(spelled);
  const only = spelling === undefined ? 0 : referenceOfSpelling.get(spelling);
  return only === 0 || only === ambiguous ? undefined : only - 1;
}

/** Creates the function that tells the verdicts of such rows on the booking in the stored line at `start`, combined; 0 for none. */
export function createLooseJudge({ byReference, byOtherIds, otherIds, correctMappings, loose }: LooseRows) {
  const hasher = createKeyHasher();
  const readReference = createKeyReader(['bookingReferenceId']);
  const readOtherIds = createKeyReader(otherIds);

  return (lines: Buffer, start: number, hasExactMatch: boolean): number => {
    if (loose === 0) return 0;
    const mayBeErased = !hasExactMatch && byOtherIds.keys.size > 0;
    if (mayBeErased && isErased(lines, start)) {
      const erased = byOtherIds.keys.find(readOtherIds(lines, start));
      return erased === undefined ? 0 : byOtherIds.verdicts.get(erased);
    }
    const reference = byReference.keys.find(readReference(lines, start));
    // Rows belong to the bookings without an exact match, or to all of them if each has one.
    if (reference === undefined || (hasExactMatch && byReference.bookings.get(reference) > 0)) return 0;
    const verdicts = byReference.verdicts.get(reference);
    if (verdicts === 0) return 0;
    const mapping = hasher.hash(readSentText(lines, start, 'serviceId'), String(reference));
    return correctMappings.find(mapping) === undefined ? verdicts : verdicts | verdictBits.correct;
  };
}

const isErased = (lines: Buffer, start: number) => readSentText(lines, start, 'bookingReferenceId') === '';
