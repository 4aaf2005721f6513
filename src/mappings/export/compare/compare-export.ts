import type { ReadOnlyLedger } from '../../../ledger/ledger.js';
import type { CopiedMapping } from '../../../ledger/mappings.js';
import { createRepeatedHotels, createSeenNumbers, type SeenNumbers } from './compact-sets.js';
import { type ExportedMapping, readMappingFile } from './read-mapping-file.js';

/** For the file and the copy alike. */
const pageSize = 1_000;
const maxRowsListed = 20;

interface CompareParts {
  readonly copy: ReadOnlyLedger['mappings'];
  /** Accepted names of the master id's column. */
  readonly masterIdNames: readonly string[];
  /** Receives differences as they are found: those of the file in its order, then mappings that are gone. */
  readonly take: (differences: readonly MappingDifference[]) => Promise<void>;
}

export interface CompareRequest {
  /** Its name, for messages. */
  readonly file: string;
  /** Opens the mapping file from the start; called twice. */
  readonly open: () => AsyncIterable<Uint8Array>;
  /** Only these providers; empty for all. */
  readonly providers: readonly string[];
}

export interface Comparison {
  /** Rows of the file, without the header. */
  readonly rows: number;
  readonly same: number;
  /** In the file but not in the copy. */
  readonly added: number;
  readonly changed: number;
  /** In the copy but not in the file. */
  readonly gone: number;
  /** The number of changed mappings that differ in that column. */
  readonly changedIn: Readonly<Record<ComparedColumn, number>>;
  /** Rows of a provider hotel that occurs again further down: the last row counts. */
  readonly repeated: number;
  /** Of these, rows with a different master hotel than the last one. */
  readonly contradicting: number;
  readonly unreadable: number;
  /** The first few of them, counted from 1 after the header. */
  readonly unreadableRows: readonly number[];
  /** Rows of providers that were not requested. */
  readonly others: number;
}

/**
 * Compares the mapping file of an export with the local copy. Memory grows by one bit per mapping of the copy.
 *
 * @throws ExportFileError when it is not a mapping file; the signal's reason
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
  const skipped = { repeated: 0, contradicting: 0, unreadable: 0, others: 0 };
  const changedIn = { ServiceId: 0, ChannelIds: 0, ProviderLocationId: 0 };
  const unreadableRows: number[] = [];
  const seen = createSeenNumbers();
  const compareMapping = createComparer();

  function countUnreadable(row: number): void {
    skipped.unreadable += 1;
    if (unreadableRows.length < maxRowsListed) unreadableRows.push(row);
  }

  function isCompared(mapping: ExportedMapping): boolean {
    if (!wanted.has(mapping.providerName)) {
      skipped.others += 1;
      return false;
    }
    const later = repeatedHotels.laterThan(mapping);
    if (!later) return true;
    skipped.repeated += 1;
    if (later.serviceId !== mapping.serviceId) skipped.contradicting += 1;
    return false;
  }

  async function compareWithCopy(mappings: readonly ExportedMapping[]): Promise<MappingDifference[]> {
    const found = await copy.lookUp(mappings);
    return mappings.flatMap((mapping, index) => {
      const copied = found[index];
      if (copied) seen.add(copied.number);
      if (mapping.serviceId === undefined) {
        countUnreadable(mapping.row);
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
    for (const row of unreadable) countUnreadable(row);
    const compared = mappings.filter(isCompared);
    for (let at = 0; at < compared.length; at += pageSize)
      await take(await compareWithCopy(compared.slice(at, at + pageSize)));
  }

  for await (const gone of listUnseen(copy, seen, wanted)) {
    signal.throwIfAborted();
    counts.gone += gone.length;
    await take(gone.map((copied) => ({ kind: 'gone', copied })));
  }
  return { ...counts, ...skipped, changedIn, unreadableRows };
}

/** The mappings of the copy that were not seen; most of the seen ones are skipped without being read. */
async function* listUnseen(
  copy: ReadOnlyLedger['mappings'],
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

/** The columns of the mapping file that are compared. */
const comparedColumns = ['ServiceId', 'ChannelIds', 'ProviderLocationId'] as const;
type ComparedColumn = (typeof comparedColumns)[number];

/** A difference between the file and the local copy for one provider hotel. */
export type MappingDifference =
  | { readonly kind: 'added'; readonly exported: ExportedMapping }
  | {
      readonly kind: 'changed';
      readonly columns: readonly ComparedColumn[];
      readonly exported: ExportedMapping;
      readonly copied: CopiedMapping;
    }
  | { readonly kind: 'gone'; readonly copied: CopiedMapping };

/** With the names of the file's columns. */
export function differenceToJson(difference: MappingDifference) {
  const { kind } = difference;
  const { providerName, providerHotelId } = kind === 'gone' ? difference.copied : difference.exported;
  return {
    difference: kind,
    ProviderFamily: providerName,
    ProviderHotelId: providerHotelId,
    ...(kind === 'changed' && { columns: difference.columns }),
    file: kind === 'gone' ? null : toFileSide(difference.exported),
    copy: kind === 'added' ? null : toCopySide(difference.copied),
  };
}

function toFileSide({ serviceId, channelIds, locationId }: ExportedMapping) {
  return { ServiceId: serviceId ?? null, ChannelIds: channelIds, ProviderLocationId: locationId };
}

function toCopySide({ serviceId, channelIds, locationCode }: CopiedMapping) {
  return { ServiceId: serviceId ?? null, ChannelIds: channelIds, ProviderLocationId: locationCode ?? null };
}

/** Returns the difference between file and copy; undefined where they agree. */
export function createComparer() {
  const readWords = createWordReader();

  function differs(column: ComparedColumn, exported: ExportedMapping, copied: CopiedMapping): boolean {
    switch (column) {
      case 'ServiceId':
        return exported.serviceId !== copied.serviceId;
      case 'ProviderLocationId':
        return exported.locationId.trim() !== (copied.locationCode ?? '').trim();
      case 'ChannelIds':
        return readWords(exported.channelIds) !== readWords(copied.channelIds.join('\n'));
    }
  }

  return (exported: ExportedMapping, copied: CopiedMapping | undefined): MappingDifference | undefined => {
    if (copied?.serviceId === undefined) return { kind: 'added', exported };
    const columns = comparedColumns.filter((column) => differs(column, exported, copied));
    return columns.length === 0 ? undefined : { kind: 'changed', columns, exported, copied };
  };
}

const word = /[\p{L}\p{M}\p{N}_-]+/gu;
/** Most rows have the same few channels. */
const rememberedAtMost = 1_000;

/**
 * Reads the words of a channel cell, each once and sorted, as one text. The separator of channels is not specified, so
 * anything but letters, digits, hyphens and underscores counts as one.
 */
export function createWordReader(): (channels: string) => string {
  const remembered = new Map<string, string>();
  return (channels) => {
    const known = remembered.get(channels);
    if (known !== undefined) return known;
    const words = [...new Set(channels.match(word))].sort().join(' ');
    if (remembered.size >= rememberedAtMost) remembered.clear();
    // A copy: a slice of a large text would keep all of it in memory.
    remembered.set(Buffer.from(channels).toString(), words);
    return words;
  };
}

/** The providers whose mappings are compared. */
interface WantedProviders {
  has(providerName: string): boolean;
  /** Their names as the copy writes them; undefined for all providers. */
  readonly inCopy: readonly string[] | undefined;
}

/**
 * The providers that a person named, perhaps not in the service's upper and lower case.
 *
 * @param names empty for all providers
 */
async function findWantedProviders(
  names: readonly string[],
  copy: ReadOnlyLedger['mappings'],
): Promise<WantedProviders> {
  if (names.length === 0) return { has: () => true, inCopy: undefined };
  const wanted = new Set(names.map(fold));
  const has = (providerName: string) => wanted.has(fold(providerName));
  const { providers } = await copy.summarise();
  return { has, inCopy: providers.map(({ providerName }) => providerName).filter(has) };
}

function fold(name: string): string {
  return name.trim().toLowerCase();
}
