import { neverSynced } from '../../mappings/copied-hotels.js';
import { showInLine } from '../../text/foreign-text.js';
import { formatCount, formatCountOf, formatDuration, formatLocalInstant } from '../../text/format.js';
import { type Html, html } from '../../text/html.js';
import { renderMark } from '../marks.js';
import type { DeskVisit, View } from '../page.js';
import { type Fact, renderFacts } from '../parts.js';
import { renderMappingHistory } from './mapping-view.js';
import type { MappingsData } from './mappings-page.js';

type Visit = Pick<DeskVisit, 'may' | 'now' | 'timezone'>;
type Sync = MappingsData['copy']['syncs'][number];

/** The page lists the largest providers, and its form offers more names. */
const providersShown = 50;
const namesOffered = 500;
const skippedShown = 5;

export function renderMappingsPage(data: MappingsData, visit: Visit): View {
  return {
    title: 'Mappings',
    content: html`${renderLookUp(data)}
${data.asked === null ? undefined : renderFound({ ...data, asked: data.asked }, visit)}
${renderCopy(data, visit)}`,
  };
}

function renderLookUp({ asked, copy: { providers } }: MappingsData): Html {
  return html`<form class="search card" action="/mappings" role="search">
<label>Provider<input name="provider" list="providers" value="${asked?.providerName ?? ''}" maxlength="500" autocomplete="off" spellcheck="false" required></label>
<label>The provider’s hotel id<input name="hotel" value="${asked?.providerHotelId ?? ''}" maxlength="500" autocomplete="off" spellcheck="false" required></label>
<button>Look up</button>
<datalist id="providers">${providers
    .slice(0, namesOffered)
    .map(({ providerName }) => html`<option value="${providerName}"></option>`)}</datalist></form>`;
}

type Asked = MappingsData & { readonly asked: NonNullable<MappingsData['asked']> };

function renderFound({ asked, mapping, cases, copy }: Asked, { timezone }: Visit): Html {
  const name = showInLine(`${asked.providerName} ${asked.providerHotelId}`);
  if (mapping === null && isNeverSynced(copy))
    return html`<h2>${name}</h2><p class="card">${neverSynced}</p>`;
  if (mapping === null)
    return html`<h2>${name}</h2><p class="card">The local copy does not have it. Names and ids must be exactly as the service writes them.</p>`;
  return html`<h2>${name}</h2><div class="card">${renderMappingHistory(mapping, timezone, true)}
${
  cases.length === 0
    ? undefined
    : html`<p>${cases.map(
        ({ id, state, serviceId }) =>
          html`<a href="/cases/${id}">Case ${id}</a>: booked as ${serviceId}, ${state}. `,
      )}</p>`
}</div>
${mapping.serviceId === null ? undefined : renderHotel(mapping, timezone)}`;
}

/** The first sync begins in 1970: it says nothing before it ends. */
function isNeverSynced({ syncs }: MappingsData['copy']): boolean {
  return syncs.every(({ finishedAt, since }) => finishedAt === null && Date.parse(since) === 0);
}

function renderHotel({ serviceId, hotel }: NonNullable<MappingsData['mapping']>, timezone: string): Html {
  const title = html`<h2>Master hotel ${serviceId ?? ''}</h2>`;
  if (hotel === null)
    return html`${title}<p class="card">Its content is unknown. It comes with the content file of an export: <code>hotel-review hotels load FILE</code></p>`;
  const { name, address, city, country, latitude, longitude, phones, email, website, loadedAt } = hotel;
  const facts: readonly Fact[] = [
    ['Name', name ?? 'unknown'],
    ['Address', [address, city, country].filter((part) => part !== null).join(', ') || 'unknown'],
    [
      'Coordinates',
      latitude === null || longitude === null ? 'unknown' : `${latitude.toFixed(6)}, ${longitude.toFixed(6)}`,
    ],
    ['Phone', phones ?? 'unknown'],
    ['E-mail', email ?? undefined],
    ['Website', website ?? undefined],
    ['Loaded', formatLocalInstant(Date.parse(loadedAt), timezone)],
  ];
  return html`${title}<div class="card">${renderFacts(facts)}</div>`;
}

function renderCopy({ copy }: MappingsData, visit: Visit): Html {
  const sync = visit.may('operate')
    ? html`<p class="buttons"><a class="button quiet" href="/mappings/sync">Sync now</a></p>`
    : undefined;
  if (copy.syncs.length === 0)
    return html`<h2>The local copy</h2><div class="card"><p>${renderMark('missing', 'There is no local copy yet')}: a sync fetches it.</p>${sync}</div>`;
  const facts: readonly Fact[] = [
    ['Mappings', formatCount(copy.mappings)],
    ['Master hotels', formatCount(copy.masterHotels)],
    ['Deleted mappings', formatCount(copy.deleted)],
    ...copy.syncs.map((one): Fact => [one.providerFamily ?? 'All providers', renderSync(one, visit)]),
  ];
  return html`<h2>The local copy</h2><div class="card">${renderFacts(facts)}${sync}</div>
${renderSkipped(copy, visit)}${renderProviders(copy)}`;
}

function renderSync({ startedAt, finishedAt, since, read, skipped }: Sync, { now, timezone }: Visit): Html {
  const show = (instant: string) => formatLocalInstant(Date.parse(instant), timezone);
  if (finishedAt === null)
    return html`${renderMark('unfinished', 'not finished')}: a sync of ${show(startedAt)} can be resumed`;
  const minutes = Math.floor((now - Date.parse(finishedAt)) / 60_000);
  const age = minutes < 1 ? 'just now' : `${formatDuration(minutes * 60_000)} ago`;
  return html`synced ${show(finishedAt)}, ${age}; ${Date.parse(since) === 0 ? formatCountOf(read, 'mapping') : `${formatCountOf(read, 'change')} since ${show(since)}`}${
    skipped > 0 ? html`, <span class="bad">${formatCount(skipped)} skipped</span>` : undefined
  }`;
}

function renderSkipped(
  { skipped, lastSkipped }: MappingsData['copy'],
  { timezone }: Visit,
): Html | undefined {
  if (skipped === 0) return undefined;
  return html`<h2>Records that could not be read</h2>
<p>${formatCount(skipped)} are kept aside. The newest:</p><ul>${lastSkipped
    .slice(0, skippedShown)
    .map(
      ({ seenAt, reason }) =>
        html`<li>${formatLocalInstant(Date.parse(seenAt), timezone)}: ${showInLine(reason)}</li>`,
    )}</ul>`;
}

function renderProviders({ providers }: MappingsData['copy']): Html | undefined {
  if (providers.length === 0) return undefined;
  const largest = providers.toSorted((a, b) => b.mappings - a.mappings).slice(0, providersShown);
  const more = providers.length - largest.length;
  return html`<h2>Mappings by provider</h2>
<div class="wide" tabindex="0"><table><thead><tr><th scope="col">Provider</th><th scope="col" class="number">Mappings</th></tr></thead><tbody>
${largest.map(
  ({ providerName, mappings }) =>
    html`<tr><td><a href="/providers/${encodeURIComponent(providerName)}">${showInLine(providerName)}</a></td><td class="number">${formatCount(mappings)}</td></tr>
`,
)}</tbody></table></div>
${more > 0 ? html`<p class="faint">And ${formatCountOf(more, 'smaller provider')}.</p>` : undefined}`;
}
