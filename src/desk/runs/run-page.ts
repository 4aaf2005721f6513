import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import { isActive } from '../../ledger/run.js';
import type { PendingLimits } from '../../review/day/pending.js';
import { html } from '../../text/html.js';
import { renderDayActions } from '../day-actions.js';
import { defineLive, definePage, type Live, type Page } from '../page.js';
import { findShownRun, isRunName, runInput } from './find-run.js';
import { renderMoment } from './render-moment.js';
import { renderOrigin, renderRunDetails } from './render-run.js';
import { readRunPage } from './run-data.js';
import { toMoment } from './run-moment.js';
import type { RunWatches } from './run-watch.js';

interface RunPageParts {
  readonly ledger: ReadOnlyLedger;
  readonly limits: PendingLimits;
}

/** Without JavaScript, the page of an active run loads itself again after this many seconds. */
const refreshSeconds = 10;

/** A run: its steps on a timeline, why it is pending, and its counts. */
export function createRunPage({ ledger, limits }: RunPageParts): Page {
  return definePage({
    path: '/runs/:id',
    permission: 'look',
    input: runInput,
    json: 'usually',
    read: async ({ id }, visit) => readRunPage(ledger, await findShownRun(ledger, id), limits, visit),
    isStartedByHook: ({ trigger }) => trigger === 'hook',
    render(run, visit) {
      const moment = renderMoment(run, visit);
      return {
        title: `Run ${run.runId}`,
        content: html`<p><a href="/days/${encodeURIComponent(run.day)}">‹ Day ${run.day}</a></p>
${renderDayActions(run.day, run, visit)}<section class="card"${isActive(run) ? html` data-live="/runs/${encodeURIComponent(run.runId)}/events"` : undefined}>${moment}</section>
${renderOrigin(run, visit)}${renderRunDetails(run, visit)}`,
        ...(isActive(run) && { refreshSeconds }),
      };
    },
  });
}

interface RunEventsParts {
  readonly watches: RunWatches;
  readonly limits: PendingLimits;
  readonly clock: () => number;
}

/** Streams the live part of a run's page until the run ends. */
export function createRunEvents({ watches, limits, clock }: RunEventsParts): Live {
  return defineLive({
    path: '/runs/:id/events',
    permission: 'look',
    input: runInput,
    async *follow({ id }, visit) {
      if (!isRunName(id)) return;
      let shown = '';
      for await (const { since, ...state } of watches.watch(id, visit.signal)) {
        const present = { ...visit, now: clock() };
        const content = renderMoment(toMoment(state, limits, present, since), present);
        if (content.markup === shown) continue;
        shown = content.markup;
        yield content;
      }
    },
  });
}
