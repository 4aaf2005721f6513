import type { Run } from '../../../src/rules/run.js';
import {
  kindOfResults,
  type ResultFile,
  resultKinds,
  someResults,
  tellResult,
  withoutOne,
} from '../results.js';
import { someTrouble, type Trouble, tellTrouble } from '../trouble.js';
import type { EventKind, OfDay, Stage } from './event.js';

/** Somebody runs the day once more whenever some of these have come, while a result is awaited. */
export interface Look extends OfDay {
  readonly kind: 'look';
  readonly results: readonly ResultFile[];
  readonly trouble?: Trouble | undefined;
}

/** After so long without a change, even a result that is cut off can be judged. */
export const quietMs = 600_000;

export const look: EventKind<Look> = {
  weights: { following: 2 },
  kinds: ['look', ...resultKinds],

  make: ({ day }, choices) => ({
    ...{ kind: 'look', day },
    results: someResults(choices),
    trouble: someTrouble(choices),
  }),

  kindsOf: ({ results }) => (results.length === 0 ? [] : ['look', kindOfResults(results)]),

  tell: ({ results, trouble }) =>
    ['somebody runs it again', ...results.map(tellResult), trouble && tellTrouble(trouble)]
      .filter(Boolean)
      .join('; '),

  *listSmaller(event) {
    if (event.trouble) yield { ...event, trouble: undefined };
    for (const results of withoutOne(event.results)) yield { ...event, results };
  },

  async live({ results, trouble }, stage) {
    let struck: string | undefined;
    for (const at of new Set(results.map(({ afterMs }) => afterMs))) {
      const found = results.filter(({ afterMs }) => afterMs === at);
      struck ??= await lookOnce(stage, found, struck === undefined ? trouble : undefined);
      stage.noteResults();
    }
    return struck;
  },
};

export async function lookOnce(
  stage: Stage,
  results: readonly ResultFile[],
  trouble?: Trouble,
): Promise<string | undefined> {
  if (results.length === 0 || !isAwaitingResult(await stage.findLatest())) return undefined;
  stage.expectResults([], false);
  stage.writeResults(results.map((one) => ({ ...one, afterMs: 0 })));
  stage.reach(stage.clock() + quietMs);
  return stage.workOn(['run', stage.iso], trouble);
}

/** A result that comes would be looked at. */
export function isAwaitingResult(run: Run | undefined): boolean {
  const isUnfinished = run?.state === 'awaiting-result' || run?.state === 'failed';
  return isUnfinished && run.file?.triggeredAt !== undefined;
}
