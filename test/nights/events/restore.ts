import type { Guest } from '../guests.js';
import {
  results as forms,
  listNames,
  type ResultFile,
  someResults,
  tellResult,
  withoutOne,
} from '../results.js';
import { toCsv } from '../source.js';
import { someTrouble, type Trouble, tellTrouble } from '../trouble.js';
import type { EventKind, OfDay, Stage } from './event.js';
import { isAwaitingResult, lookOnce, quietMs } from './look.js';
import { type How, workFor } from './review.js';

/** The ledger is restored from a copy, or gone; others go on, until a person does what the message says. */
export interface Restore extends OfDay {
  readonly kind: 'restore';
  /** As it was so many events ago. */
  readonly to: number | 'gone';
  /** What is tried before anybody knows. */
  readonly how: How;
  readonly source: readonly Guest[];
  /** If a result is awaited, this one comes after the copy was made, and is forgotten with it. */
  readonly before: readonly ResultFile[];
  readonly results: readonly ResultFile[];
  /** Once that is done, the ledger is found as it was before. */
  readonly isFoundAgain: boolean;
  /** The days that the ledger has forgotten are reviewed, too. */
  readonly isThorough: boolean;
  readonly trouble?: Trouble | undefined;
}

const attempts = ['run', 'schedule', 'hook', 'top-up', 'replay'] as const;

export const restore: EventKind<Restore> = {
  weights: { following: 1 },
  kinds: ['ledger restored', 'ledger gone'],

  make: ({ day, hasBoth }, choices) => ({
    ...{ kind: 'restore', day },
    to: choices.pick([0, 1, 1, 2, 3, 5, 8, 'gone', 'gone'] as const),
    how: choices.pick<How>(attempts),
    source: choices.source(hasBoth),
    before: choices.isOneIn(2) ? someResults(choices) : forms.whole(...choices.guests()),
    isFoundAgain: choices.isOneIn(4),
    results: choices.isOneIn(2) ? someResults(choices) : forms.whole(...choices.guests()),
    isThorough: choices.isOneIn(2),
    trouble: someTrouble(choices),
  }),

  kindsOf: ({ to }) => [to === 'gone' ? 'ledger gone' : 'ledger restored'],

  tell: ({ to, how, source, before, results, isFoundAgain, isThorough, trouble }) =>
    [
      ...before.map((one) => `if one is awaited, ${tellResult(one)}, which is forgotten again`),
      to === 'gone' ? 'the ledger is gone' : `the ledger is restored as it was ${to} events ago`,
      `${how} of ${listNames(source)} is tried`,
      ...results.map(tellResult),
      isFoundAgain && 'and once more, with the ledger as it was before',
      isThorough && 'the days without a run are reviewed',
      trouble && tellTrouble(trouble),
    ]
      .filter(Boolean)
      .join('; '),

  *listSmaller(event) {
    if (event.trouble) yield { ...event, trouble: undefined };
    if (event.isThorough) yield { ...event, isThorough: false };
    if (event.isFoundAgain) yield { ...event, isFoundAgain: false };
    for (const before of withoutOne(event.before)) yield { ...event, before };
    for (const results of withoutOne(event.results)) yield { ...event, results };
    if (event.source.length > 1) for (const source of withoutOne(event.source)) yield { ...event, source };
  },

  async live(event, stage) {
    const { to, before, isFoundAgain } = event;
    const isForgotten = before.length > 0 && isAwaitingResult(await stage.findLatest());
    if (isForgotten) await lookOnce(stage, listFirst(before));
    const struck = await loseLedger(event, isForgotten && to !== 'gone' ? 0 : to, stage);
    return isFoundAgain ? ((await loseLedger(event, 0, stage)) ?? struck) : struck;
  },
};

/** Until a person has done what the message says. */
async function loseLedger(
  { how, source, results, isThorough, trouble }: Restore,
  to: Restore['to'],
  stage: Stage,
): Promise<string | undefined> {
  const { day, iso, journal } = stage;
  await stage.restoreLedger(to);
  stage.expectResults(results, false);
  stage.sources.set(day, source);
  stage.writeExport(toCsv(source, day));
  await stage.liveProcess(workFor(how, iso, 'file'));
  const { json } = await stage.ask('status');
  const folders: readonly { readonly runId: string }[] = json.unknownFolders ?? [];
  const hasProblem = json.ledgerProblem !== undefined;
  const hasSent = journal.at(-1)?.kind === 'sent';
  const archived = stage.listArchived();
  if (isAwaitingResult(await stage.findLatest())) {
    stage.writeResults(listFirst(results).map((one) => ({ ...one, afterMs: 0 })));
    stage.reach(stage.clock() + quietMs);
  }
  const struck = await stage.workOn(hasProblem ? ['run', iso, '--unknown-archive'] : ['run', iso], trouble);
  if (isThorough) await reviewForgotten(stage);
  const named = folders.map(({ runId }) => runId).sort();
  const leftOf = stage.listArchived();
  journal.push({ kind: 'warned', day, at: stage.clock(), hasProblem, hasSent, named, archived, leftOf });
  return struck;
}

/** Those that come together. */
function listFirst(files: readonly ResultFile[]): readonly ResultFile[] {
  return files.filter(({ afterMs }) => afterMs === files[0]?.afterMs);
}

/** What the runbook says after a ledger was restored. */
async function reviewForgotten({ day: today, sources, workOnDay, journal }: Stage): Promise<void> {
  const reason = ['--reason', 'restored ledger'];
  for (const day of sources.keys()) {
    if (day >= today) continue;
    await workOnDay(day, (iso) => ['replay', iso, '--missing', ...reason]);
    const run = await workOnDay(day, (iso) => ['replay', iso, '--failed', ...reason]);
    journal.push({ kind: 'replayed', day, isSent: run?.state === 'succeeded' || isAwaitingResult(run) });
  }
}
