import { isOfItsDay } from '../../review/day-runs.js';
import type { RunState, Trigger } from '../../review/run.js';
import { type Html, html } from '../../text/html.js';
import type { DeskVisit } from '../routing/route.js';

interface NewestRun {
  readonly state: RunState;
  readonly trigger: Trigger;
}

/** The actions on a day that help most with its newest run, the first one first. */
export function listDayActions(
  newest: NewestRun | undefined,
): readonly { readonly name: string; readonly path: string }[] {
  const [run, replay, cancel, look] = [
    { name: 'Run this day', path: 'run' },
    { name: 'Replay', path: 'replay' },
    { name: 'Cancel', path: 'cancel' },
    { name: 'Look for the result now', path: 'look' },
  ] as const;
  switch (newest?.state) {
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
      return [replay, run];
  }
}

/** For those who may act; nothing for a run that sends bookings of other days. */
export function renderDayActions(
  day: string,
  newest: NewestRun | undefined,
  visit: DeskVisit,
): Html | undefined {
  if (!visit.may('operate') || (newest && !isOfItsDay(newest))) return undefined;
  return html`<p class="buttons">${listDayActions(newest).map(
    ({ name, path }, place) =>
      html`<a class="button${place === 0 ? '' : ' quiet'}" href="/days/${encodeURIComponent(day)}/${path}">${name}</a>`,
  )}</p>
`;
}
