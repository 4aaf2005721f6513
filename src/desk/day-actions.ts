import { mayCompleteDay, type RunState } from '../ledger/run.js';
import { type RunReport, waitsForAcceptance } from '../review/day/report.js';
import { type Html, html } from '../text/html.js';
import type { DeskVisit } from './page.js';

/** A link to the preview of an action on a day. */
export interface DayAction {
  readonly name: string;
  /** Below the day's. */
  readonly path: string;
}

/** What the actions on a day depend on. */
interface NewestRun {
  readonly state: RunState;
  readonly isToBeAccepted: boolean;
  /** It succeeded, but does not cover its day: another run sends what is missing. */
  readonly isIncomplete?: boolean;
  /** It sent what was new so far: whatever became of it, a run for the whole day follows. */
  readonly isOfToday?: boolean;
}

const run = { name: 'Run this day', path: 'run' };
const resume = { name: 'Resume', path: 'run' };
const topUp = { name: 'Send what is missing', path: 'run' };
const sendLate = { name: 'Send what is missing', path: 'replay?which=late' };
const replay = { name: 'Replay', path: 'replay' };
const cancel = { name: 'Cancel', path: 'cancel' };
const look = { name: 'Look for the result now', path: 'look' };
const accept = { name: 'Accept its few bookings', path: 'accept' };

/** The actions that a day's newest run allows, most helpful first: none that its preview would refuse. */
export function listDayActions(newest: NewestRun | undefined): readonly DayAction[] {
  if (!newest) return [run];
  const { isOfToday = false, isIncomplete = false, isToBeAccepted } = newest;
  switch (newest.state) {
    case 'collecting':
    case 'delivering':
      return [isOfToday ? topUp : resume, cancel];
    case 'awaiting-result':
      return [look, cancel, replay];
    case 'failed':
      return [isOfToday ? topUp : resume, replay, cancel];
    case 'cancelled':
      return [isOfToday ? topUp : run, replay];
    case 'succeeded':
      if (isToBeAccepted) return [accept, sendLate, replay];
      return isIncomplete ? [topUp, replay] : [replay];
  }
}

/** Without those that would be refused for what only the ledger knows. */
export function withoutRefused(
  actions: readonly DayAction[],
  { isComparable, isPerformed }: { readonly isComparable: boolean; readonly isPerformed: boolean },
): readonly DayAction[] {
  return actions.filter((action) => {
    // Nobody could tell what was delivered already.
    if (action === topUp || action === sendLate) return isComparable;
    // What is being sent right now would be sent twice.
    return action !== replay || !isPerformed;
  });
}

export function listActionsAfter(newest: Pick<RunReport, 'state' | 'trigger' | 'notGood'> | undefined) {
  return listDayActions(
    newest && {
      state: newest.state,
      isToBeAccepted: waitsForAcceptance(newest),
      isIncomplete: newest.notGood.some(({ code }) => code === 'day-not-over' || code === 'unexpected-count'),
      isOfToday: !mayCompleteDay(newest),
    },
  );
}

interface NewestRunOfDay extends Pick<NewestRun, 'isToBeAccepted'> {
  readonly day: string;
  /** Null without a run. */
  readonly runId: string | null;
  readonly state: RunState | null;
}

/** The most helpful link for a day in a list: to a working run or, for visitors who may operate, an action. */
export function renderFirstAction(
  { day, runId, state, isToBeAccepted }: NewestRunOfDay,
  { may }: Pick<DeskVisit, 'may'>,
  look: 'button' | 'button quiet',
): Html | undefined {
  if (state === 'collecting' || state === 'delivering')
    return html`<a class="button quiet" href="/runs/${encodeURIComponent(runId ?? '')}">Watch<span class="hidden"> the run of ${day}</span></a>`;
  const [first] = listDayActions(state === null ? undefined : { state, isToBeAccepted });
  if (first === undefined || !may('operate')) return undefined;
  return html`<a class="${look}" href="/days/${encodeURIComponent(day)}/${first.path}">${first.name}<span class="hidden">: ${day}</span></a>`;
}

/** For visitors who may operate. */
export function renderDayActions(
  day: string,
  newest: Pick<RunReport, 'state' | 'trigger' | 'notGood'> | undefined,
  visit: DeskVisit,
): Html | undefined {
  if (!visit.may('operate')) return undefined;
  return html`<p class="buttons">${renderButtons(day, listActionsAfter(newest))}</p>
`;
}

/** The first is filled, unless another button is the one to press: to send a whole day again is never that. */
export function renderButtons(day: string, actions: readonly DayAction[], isFirstFilled = true): Html[] {
  return actions.map(({ name, path }, place) => {
    const isFilled = isFirstFilled && place === 0 && path !== replay.path;
    return html`<a class="button${isFilled ? '' : ' quiet'}" href="/days/${encodeURIComponent(day)}/${path}">${name}</a>`;
  });
}
