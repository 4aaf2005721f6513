import { type Html, html } from '../base/html.js';
import { describeIncomparable } from '../review/collect/delivered-lines.js';
import { reportGoodDay } from '../rules/good-day.js';
import { acceptanceKinds, isActive, isToBeAccepted, type Run, type RunState } from '../rules/run.js';
import { mayTryAgain } from '../rules/try-again.js';
import type { ShownDay } from './calendar.js';
import type { DeskVisit } from './page.js';

/** Where each leads, below the address of the day. */
const run = { name: 'Run this day', path: 'run' };
const resume = { name: 'Resume', path: 'run' };
/** It would be resumed anyway. */
const resumeNow = { name: 'Resume now', path: 'run' };
const topUp = { name: 'Send what is missing', path: 'run' };
const sendLate = { name: 'Send what is missing', path: 'replay?which=late' };
const replay = { name: 'Replay', path: 'replay' };
export const cancel = { name: 'Cancel', path: 'cancel' };
const look = { name: 'Look for the result now', path: 'look' };
export const accepts = {
  volume: { name: 'Accept its few bookings', path: 'accept' },
  affected: { name: 'Accept its many affected bookings', path: 'accept-affected' },
};

/** By the state of the newest run, most helpful first. */
const actionsAfter: Readonly<Record<RunState, readonly (typeof run)[]>> = {
  collecting: [resume, cancel],
  delivering: [resume, cancel],
  'awaiting-result': [look, cancel, replay],
  failed: [resume, replay, cancel],
  cancelled: [run, replay],
  succeeded: [replay],
};

/** What can be done about a day after its newest run, most helpful first: nothing that the action would then refuse. */
export function listDayActions(
  newest: Run | undefined,
  timezone: string,
  { isComparable = true, isPerformed = false } = {},
): readonly (typeof run)[] {
  return listAfter(newest, timezone).filter((action) => {
    // Nobody could tell what was delivered already.
    if (action === topUp || action === sendLate) return isComparable;
    // What is being sent right now would be sent twice.
    return action !== replay || !isPerformed;
  });
}

function listAfter(newest: Run | undefined, timezone: string): readonly (typeof run)[] {
  if (!newest) return [run];
  const { state } = newest;
  const { notGood } = reportGoodDay(newest, timezone);
  const isDone = state === 'succeeded';
  const toAccept = acceptanceKinds.filter((kind) => isToBeAccepted(newest, [kind]));
  if (isDone && toAccept.length > 0)
    return [
      ...toAccept.map((kind) => accepts[kind]),
      ...(toAccept.includes('volume') ? [sendLate] : []),
      replay,
    ];
  // It sent what was booked until then, or not what the hook expected: another run sends the rest.
  const isPart = notGood.some(
    ({ code }) => code === 'day-not-over' || (isDone && code === 'unexpected-count'),
  );
  const actions = actionsAfter[state];
  if (isPart) return [topUp, ...actions.filter(({ path }) => path !== 'run')];
  return mayTryAgain(newest, 'schedule') ? actions.map((one) => (one === resume ? resumeNow : one)) : actions;
}

/**
 * What this visitor can do about a day after the newest of all its runs. Some actions would be refused for what only the ledger knows.
 *
 * @param runs newest first
 */
export async function readDayActions(runs: readonly Run[], { desk: { ledger }, may, timezone }: DeskVisit) {
  if (!may('operate')) return [];
  const [newest] = runs;
  return listDayActions(newest, timezone, {
    isComparable: describeIncomparable(runs) === undefined,
    isPerformed: newest !== undefined && isActive(newest) && (await ledger.steps.isBeingPerformed(newest.id)),
  });
}

/** The most helpful link for a day in a list: to a working run or, for visitors who may operate, an action. */
export function renderFirstAction(
  { day, runId, state, firstAction }: ShownDay,
  { may }: DeskVisit,
  isFilled: boolean,
): Html | undefined {
  if (state === 'collecting' || state === 'delivering')
    return html`<a class="button quiet" href="/runs/${encodeURIComponent(runId ?? '')}">Watch<span class="hidden"> the run of ${day}</span></a>`;
  if (firstAction === null || !may('operate')) return undefined;
  return renderButton(day, firstAction, isFilled, html`<span class="hidden">: ${day}</span>`);
}

/** The first is filled, unless another is the one to press. */
export function renderButtons(day: string, actions: readonly (typeof run)[], isFirstFilled = true): Html[] {
  return actions.map((action, index) => renderButton(day, action, isFirstFilled && index === 0));
}

/** To send a whole day again is never the button to press. */
function renderButton(day: string, { name, path }: typeof run, isFilled: boolean, about?: Html): Html {
  const look = isFilled && path !== replay.path ? 'button' : 'button quiet';
  return html`<a class="${look}" href="/days/${encodeURIComponent(day)}/${path}">${name}${about}</a>`;
}
