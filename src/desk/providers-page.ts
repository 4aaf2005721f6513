import * as z from 'zod';
import { showInLine } from '../base/foreign-text.js';
import { formatCount } from '../base/format.js';
import { type Html, html } from '../base/html.js';
import { countDays, createBusinessDay, goBack, listDays } from '../booking/business-day.js';
import {
  type DayScore,
  nameUnknown,
  type ProviderJson,
  type ScoreMemory,
  scoreProviders,
  wilsonInterval,
} from '../cases/scores/scorecard.js';
import { optionalDayField, pageField } from './fields.js';
import { linkToMapping } from './mappings-page.js';
import { type DeskVisit, definePage } from './page.js';
import { cutPage, renderFacts, renderPages, renderTable, showDay, writeAddress } from './parts.js';
import { HttpError } from './server/http-error.js';

const rangeFields = { from: optionalDayField, to: optionalDayField };

/** The scorecard: all providers compared. */
export const providersPage = definePage({
  path: '/providers',
  permission: 'look',
  cost: 'expensive',
  input: z.object({ ...rangeFields, page: pageField }),
  json: 'if-asked',

  async read({ page, ...range }, visit) {
    const { from, to, providers } = await readScores(range, visit);
    const { count: total, shown, ...cut } = cutPage(providers, page);
    /** As `providers --json` prints them. */
    return { from, to, total, ...cut, providers: shown };
  },

  render({ from, to, total, page, pages, providers }) {
    const range = { from, to };
    const empty = `No booking was sent from ${showDay(from)} to ${showDay(to)}. Providers are compared once a run has delivered bookings.`;
    return {
      title: 'Providers',
      content: html`${renderRange('/providers', range)}
<p class="faint">Share of affected bookings: of those with a known verdict, with the range in which it lies with 95 % certainty. The surest offender comes first; who has no known verdict comes last.</p>
${renderTable(
  providers,
  {
    Provider: ({ providerName: name }) =>
      name === null
        ? 'Without a provider'
        : html`<a href="${writeAddress(`/providers/${encodeURIComponent(name)}`, range)}">${showInLine(name)}</a>`,
    ...figures,
  },
  { empty },
)}
${renderPages({ count: total, page, pages }, 'provider', (other) => writeAddress('/providers', { ...range, page: other }))}
<p class="faint">Hours to correction: the median from opening a case to the correction of its mapping. Suspects right: of the bookings that the local copy of the mappings flagged before they were sent, those that were incorrect.</p>`,
    };
  },
});

/** How one provider developed. */
export const providerPage = definePage({
  path: '/providers/:name',
  permission: 'look',
  cost: 'expensive',
  input: z.object({ ...rangeFields, name: z.string() }),

  async read({ name, ...range }, visit) {
    const { from, to, providers, scored } = await readScores(range, visit);
    /** Undefined if none of its bookings was sent, and no case about it was opened. */
    const score = providers.find(({ providerName }) => providerName === name);
    return { from, to, name, score, weeks: addUpWeeks(scored, name) };
  },

  render({ from, to, name, score, weeks }) {
    const title = showInLine(name);
    return {
      title,
      content: html`${renderRange(`/providers/${encodeURIComponent(name)}`, { from, to })}
${
  score
    ? html`<div class="card">${renderFacts(Object.entries(figures).map(([of, read]) => [of, read(score)]))}</div>
<h2>By week</h2>
${renderTable(weeks, { From: (week) => showDay(week.from), ...counts })}
<h2>Hotels that are wrong again and again</h2>
${renderTable(score.repeatOffenders, {
  'Hotel id': ({ providerHotelId: id }) => html`<a href="${linkToMapping(name, id)}">${showInLine(id)}</a>`,
  'Days with affected bookings': ({ days }) => days,
  Cases: ({ cases }) => cases,
})}`
    : html`<p class="card">No booking of ${title} was sent from ${showDay(from)} to ${showDay(to)}, and no case about it was opened. Choose earlier days, or look at its cases.</p>`
}
<p><a href="${writeAddress('/cases', { provider: name })}">Its cases</a> · <a href="${writeAddress('/providers', { from, to })}">All providers</a></p>`,
    };
  },
});

/* What both show. */

function renderRange(path: string, { from, to }: { readonly from: string; readonly to: string }): Html {
  return html`<form class="search card" action="${path}">
<label>From<input name="from" type="date" value="${from}"></label>
<label>To<input name="to" type="date" value="${to}"></label>
<button>Show</button> <a href="${path}">The last 90 days</a></form>`;
}

type Counted = ProviderJson | ReturnType<typeof addUpWeeks>[number];

/** What became of bookings. */
const counts = {
  Sent: ({ sent }: Counted) => sent,
  'Share of affected bookings': describeShare,
  'Named by e-mail only': ({ namedByEmail }: Counted) => namedByEmail,
};

/** All numbers about a provider; null is unknown. */
const figures: Readonly<Record<string, (score: ProviderJson) => string | number | null>> = {
  ...counts,
  Cases: ({ cases }) => cases,
  Corrected: ({ corrected }) => corrected,
  'Hours to correction': ({ medianHoursToCorrection }) => medianHoursToCorrection ?? '–',
  'Suspects right': ({ suspects: { flagged, known, incorrect } }) =>
    flagged === 0
      ? '–'
      : `${incorrect === null ? 'unknown' : formatCount(incorrect)} of ${formatCount(incorrect === null ? flagged : known)}`,
};

/** With its 95 % range, as `1.17 % (0.70 to 1.95), 14 of 1,200`. Never "0 %" where nothing is known. */
function describeShare(counted: Counted): string {
  const { sent, known } = counted;
  const affected = counted.affected ?? 0;
  const range = wilsonInterval(affected, known);
  if (range) {
    const [share, low, high] = [affected / known, range.low, range.high].map((one) => (100 * one).toFixed(2));
    return `${share} % (${low} to ${high}), ${formatCount(affected)} of ${formatCount(known)}`;
  }
  if (sent === 0) return 'nothing sent';
  const why = nameUnknown(counted) === 'by e-mail' ? 'verdicts by e-mail only' : 'no result';
  return `unknown: ${why}, ${formatCount(sent)} sent`;
}

/* Scores over a range of days. */

type Range = { readonly [bound in 'from' | 'to']?: string | undefined };

/** The scores of all providers over a range of days; the most certain offender first. */
async function readScores(range: Range, visit: DeskVisit) {
  const { desk, timezone, today, signal } = visit;
  const scored = await scoreDays(desk.scores, today, signal, range);
  const providers = await scoreProviders(desk.ledger, timezone, scored);
  return { from: scored.at(0)?.day ?? '', to: scored.at(-1)?.day ?? '', scored, providers };
}

/** The scores of each day of a range, the last 90 by default. They are remembered, so `serve` asks before anybody else does. */
export function scoreDays(scores: ScoreMemory, today: string, signal: AbortSignal, range: Range = {}) {
  return scores(readRange(range, today), signal);
}

const usualDays = 90;
const daysAtMost = 1_000;

/** @throws HttpError 400 */
function readRange({ from: first, to: last }: Range, today: string): string[] {
  const to = createBusinessDay(last ?? today, 'UTC');
  const from = first ?? goBack(to, usualDays - 1).iso;
  if (to.iso < from) throw new HttpError(400, `to: ${to.iso} is before ${from}`);
  if (countDays(from, to.iso) > daysAtMost) {
    const earliest = goBack(to, daysAtMost - 1).iso;
    throw new HttpError(400, `from: at most ${daysAtMost} days, so not before ${earliest}`);
  }
  return listDays(from, to.iso);
}

const daysOfWeek = 7;
const addedUp = ['sent', 'known', 'affected', 'byEmail', 'namedByEmail'] as const;

/** What became of a provider's bookings by week, the newest first, back to the first that had any. The newest ends with the range. */
function addUpWeeks(scored: readonly DayScore[], name: string) {
  const weeks = [];
  for (let end = scored.length; end > 0; end -= daysOfWeek) {
    const days = scored.slice(Math.max(0, end - daysOfWeek), end);
    const week = { from: days[0]?.day ?? '', sent: 0, known: 0, affected: 0, byEmail: 0, namedByEmail: 0 };
    for (const { providers } of days) for (const of of addedUp) week[of] += providers.get(name)?.[of] ?? 0;
    weeks.push(week);
  }
  return weeks.slice(0, weeks.findLastIndex(({ sent }) => sent > 0) + 1);
}
