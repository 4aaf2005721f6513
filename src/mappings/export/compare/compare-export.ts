import type { CopiedMapping, MappingCopy } from '../../mapping-copy.js';
import { createRepeatedHotels, createSeenNumbers, type SeenNumbers } from './compact-sets.js';
import { type ExportedMapping, readMappingFile } from './read-mapping-file.js';

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

/** The columns of the mapping file in which a mapping can have changed. */
export const comparedColumns = ['ServiceId', 'ChannelIds', 'ProviderLocationId'] as const;
export type ComparedColumn = (typeof comparedColumns)[number];

/** How the file and the local copy differ on one provider's hotel. */
export type MappingDifference =
  | { readonly kind: 'added'; readonly exported: ExportedMapping }
  | {
      readonly kind: 'changed';
      readonly columns: readonly ComparedColumn[];
      readonly exported: ExportedMapping;
      readonly copied: CopiedMapping;
    }
  | { readonly kind: 'gone'; readonly copied: CopiedMapping };

/** Says what the file has otherwise than the copy; nothing where both say the same. */
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
/** The same few channels stand on most rows. */
const rememberedAtMost = 1_000;

/**
 * Reads the words of channels as one text, each word once and in order: how channels are separated in a cell is not
 * specified, so whatever is no letter, digit, hyphen or underscore may stand between them.
 */
export function createWordReader(): (channels: string) => string {
  const remembered = new Map<string, string>();
  return (channels) => {
    const known = remembered.get(channels);
    if (known !== undefined) return known;
    const words = [...new Set(channels.match(word))].sort().join(' ');
    if (remembered.size >= rememberedAtMost) remembered.clear();
    // A copy: a piece cut out of a large text keeps all of it in memory.
    remembered.set(Buffer.from(channels).toString(), words);
    return words;
  };
}

/** Of which providers mappings are compared. */
export interface WantedProviders {
  has(providerName: string): boolean;
  /** Their names as the copy writes them; undefined for all of them. */
  readonly inCopy: readonly string[] | undefined;
}

/**
 * The providers that a person named. The service may have taken their names in another case than it writes them.
 *
 * @param names all of them where it is empty
 */
export async function findWantedProviders(
  names: readonly string[],
  copy: Pick<MappingCopy, 'summarise'>,
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
