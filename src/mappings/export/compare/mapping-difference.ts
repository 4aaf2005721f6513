import type { CopiedMapping } from '../../mapping-copy.js';
import { createWordReader } from './channel-words.js';
import type { ExportedMapping } from './exported-mapping.js';

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
