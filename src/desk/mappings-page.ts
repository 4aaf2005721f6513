import * as z from 'zod';
import type { ReadOnlyLedger } from '../ledger/ledger.js';
import {
  type MappingJson,
  type MappingSummary,
  mappingToJson,
  type ProviderHotel,
  summaryToJson,
} from '../ledger/mappings.js';
import { neverSynced, wasSynced } from '../mappings/copied-hotels.js';
import { hotelToJson } from '../mappings/hotels/shown-hotels.js';
import { showInLine } from '../text/foreign-text.js';
import { formatCount, formatCountOf, formatDuration } from '../text/format.js';
import { type Html, html } from '../text/html.js';
import { searchField } from './fields.js';
import { renderMark } from './marks.js';
import { type DeskVisit, definePage } from './page.js';
import { type Fact, renderFacts, renderTable, showInstant, writeAddress } from './parts.js';

/** The page lists the largest providers, and its form offers more names. */
const providersShown = 50;
const namesOffered = 500;
const skippedShown = 5;
const notInCopy =
  'The local copy does not have it. Names and ids must be exactly as the service writes them.';

/** Looks up a provider's hotel, and shows how old the copy is and what it holds. */
export const mappingsPage = definePage({
  path: '/mappings',
  permission: 'look',
  input: z.object({ provider: searchField, hotel: searchField }),

  async read({ provider, hotel }, { desk: { ledger } }) {
    const copy = summaryToJson(await summarise(ledger));
    if (provider === undefined && hotel === undefined) return { copy };
    const asked = { providerName: provider ?? '', providerHotelId: hotel ?? '' };
    return {
      copy,
      asked,
      found: await findMapping(ledger, asked),
      isSynced: await wasSynced(ledger.mappings),
    };
  },

  render: ({ copy, asked, found, isSynced }, visit) => ({
    title: 'Mappings',
    content: html`${renderLookUp(copy, asked)}
${asked && html`<h2>${showInLine(`${asked.providerName} ${asked.providerHotelId}`)}</h2>${found ? renderFound(found, visit) : html`<p class="card">${isSynced ? notInCopy : neverSynced}</p>`}`}
<h2>The local copy</h2>${renderCopy(copy, visit)}`,
  }),
});

type Copy = ReturnType<typeof summaryToJson>;
type Found = NonNullable<Awaited<ReturnType<typeof findMapping>>>;

const summaries = new WeakMap<object, { readonly syncs: string; readonly summary: MappingSummary }>();

/** Remembers the summary of the copy until a sync changes something: counting a million mappings takes long. */
async function summarise(ledger: ReadOnlyLedger): Promise<MappingSummary> {
  const syncs = JSON.stringify(await ledger.mappings.listSyncs());
  const known = summaries.get(ledger);
  if (known?.syncs === syncs) return known.summary;
  const summary = await ledger.mappings.summarise();
  summaries.set(ledger, { syncs, summary });
  return summary;
}

/** A mapping with its master hotel, and the cases of any master hotel that it had. */
async function findMapping(ledger: ReadOnlyLedger, asked: ProviderHotel) {
  const found = await ledger.mappings.find(asked);
  if (!found) return undefined;
  const mapping = mappingToJson(found.mapping, found.moves);
  const { serviceId } = mapping;
  const [master] = serviceId === null ? [] : await ledger.hotels.lookUp([serviceId]);
  const masters = new Set([serviceId, ...mapping.history.flatMap(({ from, to }) => [from, to])]);
  const keys = [...masters].flatMap((id) => (id === null ? [] : { ...asked, serviceId: id }));
  const cases = await ledger.cases.findByKeys(keys);
  return {
    mapping,
    hotel: master ? hotelToJson(master) : null,
    cases: cases.flatMap((one) => (one ? { id: one.id, state: one.state, serviceId: one.serviceId } : [])),
  };
}

function renderLookUp({ providers }: Copy, asked: ProviderHotel | undefined): Html {
  return html`<form class="search card" action="/mappings" role="search">
<label>Provider<input name="provider" list="providers" value="${asked?.providerName ?? ''}" maxlength="500" autocomplete="off" spellcheck="false" required></label>
<label>The provider’s hotel id<input name="hotel" value="${asked?.providerHotelId ?? ''}" maxlength="500" autocomplete="off" spellcheck="false" required></label>
<button>Look up</button>
<datalist id="providers">${providers
    .slice(0, namesOffered)
    .map(({ providerName }) => html`<option value="${providerName}"></option>`)}</datalist></form>`;
}

function renderFound({ mapping, cases, hotel }: Found, visit: DeskVisit): Html {
  const linked = cases.map(
    ({ id, state, serviceId }) =>
      html`<a href="/cases/${id}">Case ${id}</a>: booked as ${serviceId}, ${state}. `,
  );
  return html`<div class="card">${renderMappingHistory(mapping, visit.timezone, true)}
${linked.length > 0 && html`<p>${linked}</p>`}</div>
${mapping.serviceId === null ? undefined : html`<h2>Master hotel ${mapping.serviceId}</h2>${renderHotel(hotel, visit)}`}`;
}

function renderHotel(hotel: Found['hotel'], visit: DeskVisit): Html {
  if (hotel === null)
    return html`<p class="card">Its content is unknown. It comes with the content file of an export: <code>hotel-review hotels load FILE</code></p>`;
  const { name, address, city, country, latitude, longitude, phones, email, website, loadedAt } = hotel;
  const isPlaced = latitude !== null && longitude !== null;
  return html`<div class="card">${renderFacts([
    ['Name', name],
    ['Address', [address, city, country].filter((part) => part !== null).join(', ') || null],
    ['Coordinates', isPlaced ? `${latitude.toFixed(6)}, ${longitude.toFixed(6)}` : null],
    ['Phone', phones],
    ['E-mail', email ?? undefined],
    ['Website', website ?? undefined],
    ['Loaded', showInstant(loadedAt, visit)],
  ])}</div>`;
}

function renderCopy(copy: Copy, visit: DeskVisit): Html {
  const sync =
    visit.may('operate') &&
    html`<p class="buttons"><a class="button quiet" href="/mappings/sync">Sync now</a></p>`;
  if (copy.syncs.length === 0)
    return html`<div class="card"><p>${renderMark('missing', 'There is no local copy yet')}: a sync fetches it.</p>${sync}</div>`;
  return html`<div class="card">${renderFacts([
    ['Mappings', copy.mappings],
    ['Master hotels', copy.masterHotels],
    ['Deleted mappings', copy.deleted],
    ...copy.syncs.map((one): Fact => [one.providerFamily ?? 'All providers', renderSync(one, visit)]),
  ])}${sync}</div>
${renderSkipped(copy, visit)}${renderProviders(copy)}`;
}

function renderSync(sync: Copy['syncs'][number], visit: DeskVisit): Html {
  const { startedAt, finishedAt, since, read, skipped } = sync;
  if (finishedAt === null)
    return html`${renderMark('unfinished', 'not finished')}: a sync of ${showInstant(startedAt, visit)} can be resumed`;
  const minutes = Math.floor((visit.now - Date.parse(finishedAt)) / 60_000);
  const age = minutes < 1 ? 'just now' : `${formatDuration(minutes * 60_000)} ago`;
  const isWhole = Date.parse(since) === 0;
  const amount = isWhole
    ? formatCountOf(read, 'mapping')
    : `${formatCountOf(read, 'change')} since ${showInstant(since, visit)}`;
  return html`synced ${showInstant(finishedAt, visit)}, ${age}; ${amount}${skipped > 0 && html`, <span class="bad">${formatCount(skipped)} skipped</span>`}`;
}

function renderSkipped({ skipped, lastSkipped }: Copy, visit: DeskVisit): Html | undefined {
  if (skipped === 0) return undefined;
  return html`<h2>Records that could not be read</h2>
<p>${formatCount(skipped)} are kept aside. The newest:</p><ul>${lastSkipped
    .slice(0, skippedShown)
    .map(({ seenAt, reason }) => html`<li>${showInstant(seenAt, visit)}: ${showInLine(reason)}</li>`)}</ul>`;
}

function renderProviders({ providers }: Copy): Html | undefined {
  if (providers.length === 0) return undefined;
  const largest = providers.toSorted((a, b) => b.mappings - a.mappings).slice(0, providersShown);
  const more = providers.length - largest.length;
  return html`<h2>Mappings by provider</h2>
${renderTable(largest, {
  Provider: ({ providerName }) =>
    html`<a href="/providers/${encodeURIComponent(providerName)}">${showInLine(providerName)}</a>`,
  Mappings: ({ mappings }) => mappings,
})}
${more > 0 && html`<p class="faint">And ${formatCountOf(more, 'smaller provider')}.</p>`}`;
}

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
  if (mapping === null)
    return html`<p>${wasSynced ? 'The local copy of the mappings does not have it.' : neverSynced}</p>`;
  const { serviceId, locationCode, channelIds, firstSeenAt, history } = mapping;
  const moves = history
    .toReversed()
    .map(
      ({ from, to, seenAt }) =>
        html`<li><time class="faint" datetime="${seenAt}">${showInstant(seenAt, { timezone })}</time> ${describeMove(from, to)}</li>`,
    );
  return html`${renderFacts([
    // Ids are not written as counts are.
    ['Master hotel', serviceId === null ? 'none: no longer mapped' : String(serviceId)],
    ['Location', locationCode ?? undefined],
    ['Channels', channelIds.length > 0 ? channelIds.join(', ') : undefined],
    ['First seen', showInstant(firstSeenAt, { timezone })],
  ])}
${moves.length === 0 ? html`<p class="faint">It has not changed since.</p>` : html`<ol class="plain">${moves}</ol>`}`;
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
