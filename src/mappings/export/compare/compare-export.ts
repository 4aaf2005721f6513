import type { CopiedMapping, MappingCopy } from '../../mapping-copy.js';
import type { ExportedMapping } from './exported-mapping.js';
import { type ComparedColumn, createComparer, type MappingDifference } from './mapping-difference.js';
import { readMappingFile } from './read-mapping-file.js';
import { createRepeatedHotels } from './repeated-hotels.js';
import { createSeenNumbers, type SeenNumbers } from './seen-numbers.js';
import { findWantedProviders, type WantedProviders } from './wanted-providers.js';

/** In the file and in the copy alike. */
const pageSize = 1_000;
const rowsNamed = 20;

export interface CompareParts {
  readonly copy: Pick<MappingCopy, 'lookUp' | 'listMappings' | 'summarise'>;
  /** What the master id's column may be called. */
  readonly masterIdNames: readonly string[];
  /** Takes differences as they are found: those of the file in its order, then what is gone. */
  readonly take: (differences: readonly MappingDifference[]) => Promise<void>;
}

export interface CompareRequest {
  /** Its name, for messages. */
  readonly file: string;
  /** Reads the mapping file from its beginning: it is read twice. */
  readonly open: () => AsyncIterable<Uint8Array>;
  /** Of these providers alone; of all of them where it is empty. */
  readonly providers: readonly string[];
}

export interface Comparison {
  /** Of the file, without its header. */
  readonly rows: number;
  readonly same: number;
  /** In the file, and not in the copy. */
  readonly added: number;
  readonly changed: number;
  /** In the copy, and not in the file. */
  readonly gone: number;
  /** Of the changed ones, those that differ in that column. */
  readonly changedIn: Readonly<Record<ComparedColumn, number>>;
  /** Rows of a provider's hotel that stands further down once more: the last one counts. */
  readonly repeated: number;
  /** Of these, rows with another master hotel than the last one. */
  readonly contradicting: number;
  readonly unreadable: number;
  /** The first few of them, counted from 1 below the header. */
  readonly unreadableRows: readonly number[];
  /** Rows of other providers than those asked for. */
  readonly others: number;
}

/**
 * Compares the mapping file of an export with the local copy, in memory that grows by a bit for each mapping of the copy.
 *
 * @throws ExportFileError when it is no mapping file; the signal's reason
 */
export async function compareExport(
  { file, open, providers }: CompareRequest,
  { copy, masterIdNames, take }: CompareParts,
  signal: AbortSignal,
): Promise<Comparison> {
  const wanted = await findWantedProviders(providers, copy);
  const repeatedHotels = createRepeatedHotels();
  for await (const { mappings } of readMappingFile(file, open(), masterIdNames, signal))
    for (const mapping of mappings) repeatedHotels.add(mapping);

  const counts = { rows: 0, same: 0, added: 0, changed: 0, gone: 0 };
  const leftOut = { repeated: 0, contradicting: 0, unreadable: 0, others: 0 };
  const changedIn = { ServiceId: 0, ChannelIds: 0, ProviderLocationId: 0 };
  const unreadableRows: number[] = [];
  const seen = createSeenNumbers();
  const compareMapping = createComparer();

  function leaveOutUnreadable(row: number): void {
    leftOut.unreadable += 1;
    if (unreadableRows.length < rowsNamed) unreadableRows.push(row);
  }

  function takesPart(mapping: ExportedMapping): boolean {
    if (!wanted.has(mapping.providerName)) {
      leftOut.others += 1;
      return false;
    }
    const later = repeatedHotels.laterThan(mapping);
    if (!later) return true;
    leftOut.repeated += 1;
    if (later.serviceId !== mapping.serviceId) leftOut.contradicting += 1;
    return false;
  }

  async function compareWithCopy(mappings: readonly ExportedMapping[]): Promise<MappingDifference[]> {
    const found = await copy.lookUp(mappings);
    return mappings.flatMap((mapping, index) => {
      const copied = found[index];
      if (copied) seen.add(copied.number);
      if (mapping.serviceId === undefined) {
        leaveOutUnreadable(mapping.row);
        return [];
      }
      const difference = compareMapping(mapping, copied);
      counts[difference?.kind ?? 'same'] += 1;
      if (difference?.kind === 'changed') for (const column of difference.columns) changedIn[column] += 1;
      return difference ?? [];
    });
  }

  for await (const { mappings, unreadable } of readMappingFile(file, open(), masterIdNames, signal)) {
    counts.rows += mappings.length + unreadable.length;
    for (const row of unreadable) leaveOutUnreadable(row);
    const compared = mappings.filter(takesPart);
    for (let at = 0; at < compared.length; at += pageSize)
      await take(await compareWithCopy(compared.slice(at, at + pageSize)));
  }

  for await (const gone of listUnseen(copy, seen, wanted)) {
    signal.throwIfAborted();
    counts.gone += gone.length;
    await take(gone.map((copied) => ({ kind: 'gone', copied })));
  }
  return { ...counts, ...leftOut, changedIn, unreadableRows };
}

/** What the copy holds beside the mappings that were seen; most of those are passed over without being read. */
async function* listUnseen(
  copy: Pick<MappingCopy, 'listMappings'>,
  seen: SeenNumbers,
  { inCopy }: WantedProviders,
): AsyncGenerator<readonly CopiedMapping[], void, undefined> {
  if (inCopy?.length === 0) return;
  for (let from = 1; ; ) {
    const after = seen.nextUnseen(from) - 1;
    const page = await copy.listMappings({ after, limit: pageSize, ...(inCopy && { providers: inCopy }) });
    const last = page.at(-1);
    if (!last) return;
    yield page.filter(({ number }) => !seen.has(number));
    from = last.number + 1;
  }
}
