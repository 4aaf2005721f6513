import type { MappingReader, MappingSummary } from './mapping-copy.js';

/**
 * Creates the function that counts what the copy holds, which takes long for a million mappings: once, and again when a sync
 * has changed something.
 */
export function rememberSummary(ledger: {
  readonly mappings: Pick<MappingReader, 'listSyncs' | 'summarise'>;
}): () => Promise<MappingSummary> {
  let remembered: { readonly syncs: string; readonly summary: MappingSummary } | undefined;
  return async () => {
    const syncs = JSON.stringify(await ledger.mappings.listSyncs());
    if (remembered?.syncs === syncs) return remembered.summary;
    const summary = await ledger.mappings.summarise();
    remembered = { syncs, summary };
    return summary;
  };
}
