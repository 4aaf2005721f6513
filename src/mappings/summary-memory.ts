import type { ReadOnlyLedger } from '../ledger/ledger.js';
import type { MappingSummary } from '../ledger/mappings.js';

/** Caches the summary of the copy until a sync changes something: counting a million mappings takes long. */
export function rememberSummary(ledger: ReadOnlyLedger): () => Promise<MappingSummary> {
  let remembered: { readonly syncs: string; readonly summary: MappingSummary } | undefined;
  return async () => {
    const syncs = JSON.stringify(await ledger.mappings.listSyncs());
    if (remembered?.syncs === syncs) return remembered.summary;
    const summary = await ledger.mappings.summarise();
    remembered = { syncs, summary };
    return summary;
  };
}
