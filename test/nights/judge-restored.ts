import { isDeepStrictEqual } from 'node:util';
import { isoOf } from './calendar.js';
import { type Entry, recall } from './journal.js';
import { guestNameDays } from './settings.js';
import type { World } from './world.js';

const dayMs = 86_400_000;

/**
 * What was said of each ledger that is not what it was, and what became of it: where others know of something that was sent since,
 * nothing is sent before a person was told; whatever others have, they keep; and then each day ends. One line for each fault.
 */
export function judgeRestored(everything: readonly Entry[]): string[] {
  const faults: string[] = [];
  for (const [at, entry] of everything.entries()) {
    if (entry.kind === 'warned') faults.push(...judgeWarned(everything.slice(0, at), entry));
    if (entry.kind === 'replayed' && !entry.isSent) faults.push(`restored: day ${entry.day} is not sent`);
  }
  return faults;
}

function judgeWarned(
  before: readonly Entry[],
  { at: doneAt, hasProblem, hasSent, named, archived, leftOf }: Entry & { readonly kind: 'warned' },
): string[] {
  const at = before.findLastIndex(({ kind }) => kind === 'restored');
  const restored = before[at];
  if (restored?.kind !== 'restored') return [];
  const known = recall(before.slice(0, restored.entries));
  const forgotten = recall(before.slice(0, at)).filter((one) => !known.includes(one));
  const wasSent = forgotten.some(({ kind }) => kind === 'sent');
  const runs = new Set(known.flatMap((one) => ('run' in one ? [one.run] : [])));
  const unknown = archived.filter((run) => !runs.has(run));
  const lost = archived.filter((run) => !leftOf.includes(run) && !isDue(run, doneAt));
  return [
    ...(wasSent && hasSent ? ['restored: sent before anybody was told'] : []),
    ...(wasSent && !hasProblem ? ['restored: nobody was told'] : []),
    ...(restored.isLatest && hasProblem ? ['restored: refused a ledger that knows everything'] : []),
    ...(hasProblem && !isDeepStrictEqual(named, unknown)
      ? [`restored: named ${named}, expected ${unknown}`]
      : []),
    ...lost.map((run) => `restored: the files of ${run} are lost`),
  ];
}

/** Whether the names in the files of a run may be due by then. */
function isDue(run: string, at: number): boolean {
  const day = run.replace(/^(\d{4})(\d\d)(\d\d)-.*/, '$1-$2-$3');
  return at - Date.parse(day) >= guestNameDays * dayMs;
}

/** A day whose runs are forgotten is not good, and nothing is known of it. */
export async function judgeForgotten({ ask, everything, app }: World, number: number): Promise<string[]> {
  const day = isoOf(number);
  const wasSent = everything.some((one) => one.kind === 'sent' && one.day === number);
  if (!wasSent) return [];
  const { runs, outcome = null } = (await ask('status', day)).json;
  const affected = await ask('affected', day);
  const days = (await ask('status')).json;
  const known = days.runs.map((run: { readonly day: string }) => run.day).sort();
  const isListed =
    known.length === 0 || day < known[0] || day >= app.today() || days.daysWithoutRun.includes(day);
  return [
    ...(runs.length > 0 || outcome !== null ? [`forgotten: ${day} has ${runs.length} runs`] : []),
    ...(affected.code === 0 ? [`forgotten: affected of ${day} answers`] : []),
    ...(isListed ? [] : [`forgotten: status does not name ${day}`]),
  ];
}
