import type { MappingJson } from '../../ledger/mappings.js';
import { neverSynced } from '../../mappings/copied-hotels.js';
import { formatLocalInstant } from '../../text/format.js';
import { type Html, html } from '../../text/html.js';
import { type Fact, renderFacts, writeAddress } from '../parts.js';

/**
 * A mapping and how it changed; null if the local copy has never seen it.
 *
 * @param wasSynced false while the copy knows nothing
 */
export function renderMappingHistory(
  mapping: MappingJson | null,
  timezone: string,
  wasSynced: boolean,
): Html {
  if (mapping === null && !wasSynced) return html`<p>${neverSynced}</p>`;
  if (mapping === null) return html`<p>The local copy of the mappings does not have it.</p>`;
  const { serviceId, locationCode, channelIds, firstSeenAt, history } = mapping;
  const show = (instant: string) => formatLocalInstant(Date.parse(instant), timezone);
  const facts: readonly Fact[] = [
    ['Master hotel', serviceId ?? 'none: no longer mapped'],
    ['Location', locationCode ?? undefined],
    ['Channels', channelIds.length > 0 ? channelIds.join(', ') : undefined],
    ['First seen', show(firstSeenAt)],
  ];
  return html`${renderFacts(facts)}
${
  history.length === 0
    ? html`<p class="faint">It has not changed since.</p>`
    : html`<ol class="plain">${history
        .toReversed()
        .map(
          ({ from, to, seenAt }) =>
            html`<li><time class="faint" datetime="${seenAt}">${show(seenAt)}</time> ${describeMove(from, to)}</li>`,
        )}</ol>`
}`;
}

function describeMove(from: number | null, to: number | null): Html {
  if (to === null) return html`was deleted (it was ${from ?? 'unknown'})`;
  return from === null
    ? html`came back as <strong>${to}</strong>`
    : html`moved from ${from} to <strong>${to}</strong>`;
}

/** The address of a provider hotel's page. */
export function linkToMapping(providerName: string, providerHotelId: string): string {
  return writeAddress('/mappings', { provider: providerName, hotel: providerHotelId });
}
