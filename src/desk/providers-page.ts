import * as z from 'zod';
import { createBusinessDay } from '../booking/business-day.js';
import { renderShares } from '../charts/bars.js';
import {
  type DayScore,
  nameUnknown,
  orderProviders,
  type ProviderJson,
  providerToJson,
  scoreProviders,
} from '../scorecard/scorecard.js';
import { HttpError } from '../server/http-error.js';
import { showInLine } from '../text/foreign-text.js';
import { formatCount } from '../text/format.js';
import { type Html, html } from '../text/html.js';
import { optionalDayField, pageField } from './fields.js';
import { linkToMapping } from './mappings-page.js';
import { type DeskParts, type DeskVisit, definePage } from './page.js';
import { renderFacts, renderPages, renderTable, showDay, writeAddress } from './parts.js';

/** Less than 100 kB per page, even over a thousand days. */
const providersPerPage = 25;

const rangeFields = { from: optionalDayField, to: optionalDayField };

/** The scorecard: all providers compared. */
export const providersPage = definePage({
  path: '/providers',
  permission: 'look',
  input: z.object({ ...rangeFields, page: pageField }),
  json: 'if-asked',

  async read({ page, ...range }, visit) {
    const { from, to, providers, scored } = await readScores(range, visit);
    const shown = providers.slice((page - 1) * providersPerPage, page * providersPerPage);
    return {
      ...{ from, to, total: providers.length, page },
      pages: Math.ceil(providers.length / providersPerPage),
      /** Most certain offender first, as `providers --json` prints them. */
      providers: shown.map((score) => ({
        ...score,
        /** The shares of affected bookings by week, oldest first; null if no verdict is known. */
        weeklyShares: groupDays(scored, score.providerName, daysOfWeek).map(({ affected, known }) =>
          affected === null ? null : affected / known,
        ),
      })),
    };
  },

  render({ from, to, total, page, pages, providers }) {
    const range = { from, to };
    if (total === 0)
      return {
        title: 'Providers',
        content: html`${renderRange('/providers', range)}
<p class="card">No booking was sent from ${showDay(from)} to ${showDay(to)}. Providers are compared once a run has delivered bookings.</p>`,
      };
    const linkTo = ({ providerName: name }: ProviderJson) =>
      name === null ? undefined : writeAddress(`/providers/${encodeURIComponent(name)}`, range);
    const bars = providers.map((score) => ({
      ...{ label: nameOf(score), link: linkTo(score), weeks: score.weeklyShares },
      ...{ share: toShare(score), text: describeShare(score) },
    }));
    return {
      title: 'Providers',
      content: html`${renderRange('/providers', range)}
<h2>Share of affected bookings</h2>
<p class="faint">Of the bookings with a known verdict, with the range in which the share lies with 95 % certainty, and its course by week. The surest offender comes first; who has no known verdict comes last.</p>
<div class="card">${renderShares('Share of affected bookings by provider', bars)}</div>
${renderPages({ count: total, page, pages }, 'provider', (other) => writeAddress('/providers', { ...range, page: other }))}
<h2>In numbers</h2>
${renderTable(providers, {
  Provider(score) {
    const link = linkTo(score);
    return link === undefined ? nameOf(score) : html`<a href="${link}">${showInLine(nameOf(score))}</a>`;
  },
  ...figures,
})}
<p class="faint">Hours to correction: the median from opening a case to the correction of its mapping. Suspects right: of the bookings that the local copy of the mappings flagged before they were sent, those that were incorrect.</p>`,
    };
  },
});

/** How one provider developed. */
export const providerPage = definePage({
  path: '/providers/:name',
  permission: 'look',
  input: z.object({ ...rangeFields, name: z.string() }),

  async read({ name, ...range }, visit) {
    const { from, to, providers, scored } = await readScores(range, visit);
    return {
      ...{ from, to, name },
      /** Undefined if none of its bookings was sent, and no case about it was opened. */
      score: providers.find(({ providerName }) => providerName === name),
      weeks: groupDays(scored, name, daysOfWeek),
    };
  },

  render({ from, to, name, score, weeks }) {
    const title = showInLine(name);
    const firstWeek = weeks.findIndex(({ sent }) => sent > 0);
    return {
      title,
      content: html`${renderRange(`/providers/${encodeURIComponent(name)}`, { from, to })}
${
  score
    ? html`${renderScore(score)}
<h2>By week</h2>
${renderTable(weeks.slice(Math.max(0, firstWeek)).reverse(), {
  From: (week) => showDay(week.from),
  Sent: ({ sent }) => sent,
  'Verdict known': ({ known }) => known,
  Affected: ({ sent, affected }) => (sent === 0 ? '–' : affected),
  '%': ({ affected, known }) => (affected === null ? '' : Number(((100 * affected) / known).toFixed(2))),
  'Named by e-mail only': ({ namedByEmail }) => namedByEmail,
})}
${renderOffenders(score, name)}`
    : html`<p class="card">No booking of ${title} was sent from ${showDay(from)} to ${showDay(to)}, and no case about it was opened. Choose earlier days, or look at its cases.</p>`
}
<p><a href="${writeAddress('/cases', { provider: name })}">Its cases</a> · <a href="${writeAddress('/providers', { from, to })}">All providers</a></p>`,
    };
  },
});

function renderScore(score: ProviderJson): Html {
  const title = 'Share of affected bookings';
  const share = toShare(score);
  const facts = Object.entries(figures).map(([name, read]) => [name, read(score)] as const);
  return html`<div class="card"><h2>${title}</h2>${
    share === null
      ? html`<p>${describeShare(score)}</p>`
      : renderShares(title, [{ label: 'Affected', share, text: describeShare(score) }])
  }${renderFacts(facts)}</div>`;
}

function renderOffenders({ repeatOffenders }: ProviderJson, name: string): Html | undefined {
  if (repeatOffenders.length === 0) return undefined;
  return html`<h2>Hotels that are wrong again and again</h2>
${renderTable(repeatOffenders, {
  'Hotel id': ({ providerHotelId: id }) => html`<a href="${linkToMapping(name, id)}">${showInLine(id)}</a>`,
  'Days with affected bookings': ({ days }) => days,
  Cases: ({ cases }) => cases,
})}`;
}

/* What both show. */

const nameOf = ({ providerName }: ProviderJson) => providerName ?? 'Without a provider';

function renderRange(path: string, { from, to }: { readonly from: string; readonly to: string }): Html {
  return html`<form class="search card" action="${path}">
<label>From<input name="from" type="date" value="${from}"></label>
<label>To<input name="to" type="date" value="${to}"></label>
<button>Show</button> <a href="${path}">The last 90 days</a></form>`;
}

/** The numbers about a provider; null is unknown. */
const figures: Readonly<Record<string, (score: ProviderJson) => string | number | null>> = {
  Sent: ({ sent }) => sent,
  'Verdict known': ({ known }) => known,
  Affected: ({ affected }) => affected,
  'Named by e-mail only': ({ namedByEmail }) => namedByEmail,
  Cases: ({ cases }) => cases,
  Corrected: ({ corrected }) => corrected,
  'Hours to correction': ({ medianHoursToCorrection }) => medianHoursToCorrection ?? '–',
  'Suspects right': ({ suspects: { flagged, known, incorrect } }) =>
    flagged === 0
      ? '–'
      : `${incorrect === null ? 'unknown' : formatCount(incorrect)} of ${formatCount(incorrect === null ? flagged : known)}`,
};

function toShare(score: ProviderJson) {
  const { affectedShare: value, affectedShareLow: low, affectedShareHigh: high } = score;
  return value === null || low === null || high === null ? null : { value, low, high };
}

/** Never "0 %" where nothing is known. */
function describeShare(score: ProviderJson): string {
  const { affected, known, sent } = score;
  if (affected !== null) return `${formatCount(affected)} of ${formatCount(known)}`;
  if (sent === 0) return 'nothing sent';
  const why = nameUnknown(score) === 'by e-mail' ? 'verdicts by e-mail only' : 'no result';
  return `unknown: ${why}, ${formatCount(sent)} sent`;
}

/* Scores over a range of days. */

type Range = { readonly [bound in 'from' | 'to']?: string | undefined };

const usualDays = 90;
const daysAtMost = 1_000;

/** The scores of all providers over a range of days, the last 90 by default; the most certain offender first. */
async function readScores(range: Range, { desk, timezone, ...visit }: DeskVisit) {
  const days = listDays(range, visit.today);
  const scored = await desk.scores(days, {
    signal: visit.signal,
    silence: await desk.readSilence(visit.now),
  });
  const scores = await scoreProviders(desk.ledger, timezone, scored);
  return {
    ...{ from: days.at(0) ?? '', to: days.at(-1) ?? '', scored },
    providers: orderProviders(scores.map(providerToJson)),
  };
}

/** Computes the scores of the default range before anybody asks for them. */
export async function prepareScores(
  { scores, readSilence }: Pick<DeskParts, 'scores' | 'readSilence'>,
  { now, today, signal }: Pick<DeskVisit, 'now' | 'today' | 'signal'>,
): Promise<void> {
  await scores(listDays({}, today), { signal, silence: await readSilence(now) });
}

/** @throws HttpError 400 */
function listDays({ from, to }: Range, today: string): string[] {
  const last = createBusinessDay(to ?? today, 'UTC');
  const days: string[] = [];
  for (let day = last; days.length < (from === undefined ? usualDays : daysAtMost); day = day.previous()) {
    if (from !== undefined && day.iso < from) break;
    days.push(day.iso);
  }
  if (days.length === 0) throw new HttpError(400, `to: ${last.iso} is before ${from}`);
  if (from !== undefined && days.at(-1) !== from)
    throw new HttpError(400, `from: at most ${daysAtMost} days, so not before ${days.at(-1)}`);
  return days.reverse();
}

const daysOfWeek = 7;

/** What became of a provider's bookings, so many days at a time, oldest first; the last group ends with the range. */
function groupDays(scored: readonly DayScore[], providerName: string | null, size: number) {
  const groups = [];
  for (let end = scored.length; end > 0; end -= size)
    groups.push(addUp(scored.slice(Math.max(0, end - size), end), providerName));
  return groups.reverse();
}

function addUp(scored: readonly DayScore[], providerName: string | null) {
  const total = { sent: 0, known: 0, affected: 0, namedByEmail: 0 };
  for (const { providers } of scored) {
    const found = providers.get(providerName);
    for (const name of Object.keys(total) as (keyof typeof total)[]) total[name] += found?.[name] ?? 0;
  }
  // Unknown without a known verdict.
  return { from: scored[0]?.day ?? '', ...total, affected: total.known === 0 ? null : total.affected };
}
