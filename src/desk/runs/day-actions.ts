import type { RunState } from '../../ledger/run.js';
import { type RunReport, waitsForAcceptance } from '../../review/day/report.js';
import { type Html, html } from '../../text/html.js';
import type { DeskVisit } from '../page.js';

/** The actions on a day that suit its newest run, most helpful first. */
export function listDayActions(
  newest: RunState | undefined,
  isToBeAccepted: boolean,
): readonly { readonly name: string; readonly path: string }[] {
  const [run, replay, cancel, look, accept, late] = [
    { name: 'Run this day', path: 'run' },
    { name: 'Replay', path: 'replay' },
    { name: 'Cancel', path: 'cancel' },
    { name: 'Look for the result now', path: 'look' },
    { name: 'Accept its few bookings', path: 'accept' },
    { name: 'Send what is missing', path: 'replay?which=late' },
  ] as const;
  switch (newest) {
    case undefined:
      return [run];
    case 'collecting':
    case 'delivering':
      return [{ ...run, name: 'Resume' }, cancel];
    case 'awaiting-result':
      return [look, cancel, replay];
    case 'failed':
      return [{ ...run, name: 'Resume' }, replay, cancel];
    case 'cancelled':
      return [run, replay];
    case 'succeeded':
      return isToBeAccepted ? [accept, late, replay] : [replay, run];
  }
}

interface NewestRunOfDay {
  readonly day: string;
  /** Null without a run. */
  readonly runId: string | null;
  readonly state: RunState | null;
  readonly isToBeAccepted: boolean;
}

/** The most helpful link for a day in a list: to a working run or, for visitors who may operate, an action. */
export function renderFirstAction(
  { day, runId, state, isToBeAccepted }: NewestRunOfDay,
  { may }: Pick<DeskVisit, 'may'>,
  look: 'button' | 'button quiet',
): Html | undefined {
  if (state === 'collecting' || state === 'delivering')
    return html`<a class="button quiet" href="/runs/${encodeURIComponent(runId ?? '')}">Watch<span class="hidden"> the run of ${day}</span></a>`;
  const [first] = listDayActions(state ?? undefined, isToBeAccepted);
  if (first === undefined || !may('operate')) return undefined;
  return html`<a class="${look}" href="/days/${encodeURIComponent(day)}/${first.path}">${first.name}<span class="hidden">: ${day}</span></a>`;
}

/** For visitors who may operate. */
export function renderDayActions(
  day: string,
  newest: Pick<RunReport, 'state' | 'notGood'> | undefined,
  visit: DeskVisit,
): Html | undefined {
  if (!visit.may('operate')) return undefined;
  const isToBeAccepted = newest !== undefined && waitsForAcceptance(newest);
  return html`<p class="buttons">${listDayActions(newest?.state, isToBeAccepted).map(
    ({ name, path }, place) =>
      html`<a class="button${place === 0 ? '' : ' quiet'}" href="/days/${encodeURIComponent(day)}/${path}">${name}</a>`,
  )}</p>
`;
}
