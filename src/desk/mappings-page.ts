import * as z from 'zod';
import { showInLine } from '../base/foreign-text.js';
import { formatCount, formatCountOf, formatDuration } from '../base/format.js';
import { type Html, html } from '../base/html.js';
import type { ProviderHotel } from '../booking/booking.js';
import type { ReadOnlyLedger } from '../ledger/ledger.js';
import {
  type MappingJson,
  type MappingSummary,
  type MappingSync,
  mappingToJson,
  syncToJson,
} from '../ledger/mappings.js';
import { neverSynced, wasSynced } from '../mappings/copied-hotels.js';
import { hotelToJson } from '../mappings/hotels/shown-hotels.js';
import { searchField } from './fields.js';
import { renderMark } from './marks.js';
import { type DeskVisit, defineAction, definePage } from './page.js';
import { type Fact, renderFacts, renderTable, showInstant, writeAddress } from './parts.js';

/** The page lists the largest providers, and its form offers more names. */
const providersShown = 50;
const namesOffered = 500;
const skippedShown = 5;

const syncPath = '/mappings/sync';

/** Looks up a provider's hotel, and shows how old the copy is and what it holds. */
export const mappingsPage = definePage({
  path: '/mappings',
  permission: 'look',
  cost: 'expensive',
  input: z.object({ provider: searchField, hotel: searchField }),

  async read({ provider, hotel }, { desk: { ledger, summariseMappings } }) {
    const copy = await summariseMappings(ledger);
    if (provider === undefined && hotel === undefined) return { copy };
    const asked = { providerName: provider ?? '', providerHotelId: hotel ?? '' };
    return { copy, found: await findMapping(ledger, asked) };
  },

  render: ({ copy, found }, visit) => ({
    title: 'Mappings',
    content: html`<form class="search card" action="/mappings" role="search">
<label>Provider<input name="provider" list="providers" value="${found?.providerName ?? ''}" maxlength="500" autocomplete="off" spellcheck="false" required></label>
<label>The provider’s hotel id<input name="hotel" value="${found?.providerHotelId ?? ''}" maxlength="500" autocomplete="off" spellcheck="false" required></label>
<button>Look up</button>
<datalist id="providers">${copy.providers
      .slice(0, namesOffered)
      .map(({ providerName }) => html`<option value="${providerName}"></option>`)}</datalist></form>
${found && renderFound(found, visit)}
<h2>The local copy</h2>${renderCopy(copy, visit)}`,
  }),
});

/** What `hotel-review mappings sync` does. */
export const syncMappings = defineAction({
  path: syncPath,
  permission: 'operate',
  title: 'Sync the mappings',
  input: z.object({}),
  form: z.object({}),
  reason: 'optional',
  async preview(_, visit) {
    const sync = await readSync(visit);
    const { latest, state } = sync;
    return {
      lines: ['The local copy gets all changes since the last sync, from the service.'],
      details: html`<div${state.isRunning && html` data-live`}>${renderProgress(sync, visit)}</div>`,
      data: { ...state, latest: latest ? syncToJson(latest) : null },
      refusal: state.isRunning ? 'A sync is running.' : undefined,
      button: latest && latest.endedAt === undefined ? 'Continue the sync' : 'Sync now',
      back: '/mappings',
    };
  },
  audit: () => ({ action: 'sync' }),
  async perform(_, __, { desk: { operations } }) {
    await operations.sync.start();
    return { message: 'The sync has begun.', next: syncPath };
  },
});

/** Remembers the summary of the copy until a sync changes something: counting a million mappings takes long. */
export function createSummaryMemory() {
  let known: { readonly syncs: string; readonly summary: MappingSummary } | undefined;
  return async ({ mappings }: ReadOnlyLedger): Promise<MappingSummary> => {
    const syncs = JSON.stringify(await mappings.listSyncs());
    if (known?.syncs !== syncs) known = { syncs, summary: await mappings.summarise() };
    return known.summary;
  };
}

/** A mapping with its master hotel, and the cases of any master hotel that it had. */
async function findMapping(ledger: ReadOnlyLedger, asked: ProviderHotel) {
  const found = await ledger.mappings.find(asked);
  const mapping = found ? mappingToJson(found.mapping, found.moves) : null;
  const current = mapping?.serviceId ?? null;
  const masters = new Set([current, ...(mapping?.history ?? []).flatMap(({ from, to }) => [from, to])]);
  const keys = [...masters].flatMap((id) => (id === null ? [] : { ...asked, serviceId: id }));
  const [master] = current === null ? [] : await ledger.hotels.lookUp([current]);
  const hotel = master && hotelToJson(master);
  const cases = (await ledger.cases.findByKeys(keys)).filter((one) => one !== undefined);
  return { ...asked, mapping, hotel, cases, isSynced: await wasSynced(ledger.mappings) };
}

function renderFound(found: Awaited<ReturnType<typeof findMapping>>, visit: DeskVisit): Html {
  const { mapping, hotel, cases, isSynced, ...asked } = found;
  const linked = cases.map(
    ({ id, state, serviceId }) =>
      html`<a href="/cases/${id}">Case ${id}</a>: booked as ${serviceId}, ${state}. `,
  );
  return html`<h2>${showInLine(`${asked.providerName} ${asked.providerHotelId}`)}</h2>
<div class="card">${renderMappingHistory(mapping, visit.timezone, isSynced)}
${linked.length > 0 && html`<p>${linked}</p>`}</div>
${mapping?.serviceId != null && html`<h2>Master hotel ${mapping.serviceId}</h2>${hotel ? renderHotel(hotel) : unknownHotel}`}`;
}

const unknownHotel = html`<p class="card">Its content is unknown. It comes with the content file of an export: <code>hotel-review hotels load FILE</code></p>`;

function renderHotel(hotel: KnownHotel): Html {
  const facts = Object.entries(hotelFields).map(([about, read]): Fact => [about, read(hotel)]);
  return html`<div class="card">${renderFacts(facts)}</div>`;
}

type KnownHotel = ReturnType<typeof hotelToJson> & { readonly localTime?: string | null };

/** What is known of a hotel; null is unknown. */
export const hotelFields: Readonly<Record<string, (hotel: KnownHotel) => Html | string | null | undefined>> =
  {
    Name: ({ name }) => name,
    Phone: ({ phones }) => phones && linkPhones(phones),
    Address: ({ address }) => address,
    City: ({ city }) => city,
    Country: ({ country, countryCode }) => country ?? countryCode,
    'E-mail': ({ email }) => email,
    Website: ({ website }) => website,
    // By the hotel's own clock.
    'Time there': ({ localTime }) => localTime && showInstant(`${localTime}Z`, { timezone: 'UTC' }),
    Map: linkToMap,
  };

/** Each number as a link; whatever else stands there, such as the name of a desk, is only text. */
function linkPhones(phones: string): Html {
  const parts = phones.split(/(\+?\d[\d ().-]{2,}\d)/);
  return html`${parts.map((part, index) =>
    index % 2 === 1
      ? html`<a href="tel:${part.replace(/[^\d+]/g, '')}">${part}</a>`
      : html`${showInLine(part)}`,
  )}`;
}

/** Only whoever follows it tells the map where the hotel is. */
function linkToMap(hotel: KnownHotel): Html | null {
  if (hotel.latitude === null || hotel.longitude === null) return null;
  const [latitude, longitude] = [hotel.latitude.toFixed(5), hotel.longitude.toFixed(5)];
  const address = `https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}#map=17/${latitude}/${longitude}`;
  return html`<a href="${address}" rel="noreferrer">${latitude}, ${longitude}</a>`;
}

function renderCopy(copy: MappingSummary, visit: DeskVisit): Html {
  const { mappings, masterHotels, deleted, syncs, keptSkipped, lastSkipped } = copy;
  const link =
    visit.may('operate') &&
    html`<p class="buttons"><a class="button quiet" href="${syncPath}">Sync now</a></p>`;
  if (syncs.length === 0)
    return html`<div class="card"><p>${renderMark('missing', 'There is no local copy yet')}: a sync fetches it.</p>${link}</div>`;
  return html`<div class="card">${renderFacts([
    ['Mappings', mappings],
    ['Master hotels', masterHotels],
    ['Deleted mappings', deleted],
    ...syncs.map((sync): Fact => [sync.scope || 'All providers', describeSync(sync, visit)]),
  ])}${link}</div>
${
  keptSkipped > 0 &&
  html`<h2>Records that could not be read</h2>
<p>${formatCount(keptSkipped)} are kept aside. The newest:</p><ul>${lastSkipped
    .slice(0, skippedShown)
    .map(({ seenAt, reason }) => html`<li>${showInstant(seenAt, visit)}: ${showInLine(reason)}</li>`)}</ul>`
}
${renderProviders(copy)}`;
}

function renderProviders({ providers }: MappingSummary): Html {
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

async function readSync({ desk: { ledger, operations } }: DeskVisit) {
  // First, so that what a sync that has just ended stored is read.
  const state = operations.sync.state();
  return { state, latest: await ledger.mappings.latestSync() };
}

/** The last sync: one that is running, or ended, or was cut off. */
function renderProgress(
  { latest, state: { failure } }: Awaited<ReturnType<typeof readSync>>,
  visit: DeskVisit,
): Html {
  const problem =
    failure !== undefined &&
    html`<p class="bad">The last sync that was started here ended early: ${failure}</p>`;
  if (!latest)
    return html`${problem}<p class="empty">There was no sync yet: the copy is empty. The first one reads all mappings.</p>`;
  const { pages, added, moved, updated, deleted, newHotels } = latest.counts;
  return html`${problem}<div class="card">${renderFacts([
    ['The last sync', describeSync(latest, visit)],
    ['Pages', pages],
    ['Added', added],
    ['Moved to another master hotel', moved],
    ['Changed otherwise', updated],
    ['Deleted', deleted],
    ['New master hotels', newHotels],
  ])}</div>`;
}

/** When a sync was, and what it has read. */
function describeSync({ at, endedAt, since, counts }: MappingSync, visit: DeskVisit): Html {
  const bound = since > 0 && html` since ${showInstant(since, visit)}`;
  const skipped =
    counts.skipped > 0 && html`, <span class="bad">${formatCount(counts.skipped)} skipped</span>`;
  const newHotels = counts.newHotels > 0 && html`, ${formatCountOf(counts.newHotels, 'new master hotel')}`;
  const read = html`${formatCountOf(counts.read, bound ? 'change' : 'mapping')}${bound}${newHotels}${skipped}`;
  if (endedAt === undefined)
    return html`${renderMark('unfinished')}: it began ${showInstant(at, visit)}, and is running or can be resumed; ${read} so far`;
  const minutes = Math.floor((visit.now - endedAt) / 60_000);
  const age = minutes < 1 ? 'just now' : `${formatDuration(minutes * 60_000)} ago`;
  return html`synced ${showInstant(endedAt, visit)}, ${age}; ${read}`;
}

/**
 * A mapping and how it changed; null if the local copy does not have it.
 *
 * @param isSynced false while the copy knows nothing
 */
export function renderMappingHistory(mapping: MappingJson | null, timezone: string, isSynced: boolean): Html {
  if (mapping === null)
    return html`<p>${isSynced ? 'The local copy of the mappings does not have it. Names and ids must be exactly as the service writes them.' : neverSynced}</p>`;
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
