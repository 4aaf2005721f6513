import * as z from 'zod';
import { renderShares } from '../charts/bars.js';
import { renderSentColumns } from '../charts/day-columns.js';
import type { ProviderJson } from '../scorecard/scorecard.js';
import { showInLine } from '../text/foreign-text.js';
import { formatCount } from '../text/format.js';
import { type Html, html } from '../text/html.js';
import { linkToMapping } from './mappings/mapping-view.js';
import { definePage } from './page.js';
import { renderFacts, renderTable, showDay, writeAddress } from './parts.js';
import {
  daysOfWeek,
  describeShare,
  figures,
  groupDays,
  rangeFields,
  readScores,
  renderRange,
  toShare,
} from './providers-page.js';

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
      days: groupDays(scored, name, 1).map(({ from: day, sent, affected }) => ({ day, sent, affected })),
    };
  },

  render({ from, to, name, score, weeks, days }) {
    const title = showInLine(name);
    const firstWeek = Math.max(
      0,
      weeks.findIndex(({ sent }) => sent > 0),
    );
    return {
      title,
      content: html`${renderRange(`/providers/${encodeURIComponent(name)}`, { from, to })}
${
  score
    ? html`${renderScore(score)}
<div class="card">${renderSentColumns({ title: 'Sent bookings by day', from, to, days })}</div>
<h2>By week</h2>
${renderTable(weeks.slice(firstWeek).reverse(), {
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
  const facts = Object.entries(figures).map(([name, read]) => {
    const value = read(score) ?? 'unknown';
    return [name, typeof value === 'number' ? formatCount(value) : value] as const;
  });
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
