import { endOf } from '../calendar.js';
import type { Guest } from '../guests.js';
import type { Work } from '../product.js';
import {
  kindOfResults,
  listNames,
  type ResultFile,
  resultKinds,
  someResults,
  tellResult,
  withoutOne,
} from '../results.js';
import { toCsv } from '../source.js';
import { someTrouble, type Trouble, tellTrouble } from '../trouble.js';
import type { EventKind, OfDay } from './event.js';

/** How a day's review comes about. `early` is a run while the day is not over. */
export type How = 'run' | 'schedule' | 'hook' | 'early' | 'today' | 'top-up' | 'replay';

export interface Review extends OfDay {
  readonly kind: 'review';
  readonly how: How;
  readonly by: 'body' | 'file';
  readonly source: readonly Guest[];
  readonly results: readonly ResultFile[];
  /** Another process follows up runs at each look for a result. */
  readonly isFollowed: boolean;
  /** How many steps are performed at once; one, if absent. */
  readonly workers?: number;
  readonly trouble?: Trouble | undefined;
}

const openings = ['run', 'run', 'run', 'schedule', 'hook', 'early', 'today'] as const;
const followers = ['run', 'schedule', 'hook', 'top-up', 'top-up', 'replay'] as const;

export const review: EventKind<Review> = {
  weights: { opening: 5, following: 4 },
  kinds: [
    ...['run by body', 'run by file', 'replay by body', 'replay by file'],
    ...['schedule', 'hook', 'early', 'today', 'top-up', 'followed', 'several workers'],
    ...resultKinds,
  ],

  make: ({ day, hasBoth, isBegun }, choices) => ({
    kind: 'review',
    day,
    how: choices.pick<How>(isBegun ? followers : openings),
    by: choices.pick(['file', 'file', 'body']),
    source: choices.source(hasBoth),
    results: someResults(choices),
    isFollowed: choices.isOneIn(2),
    workers: choices.pick([1, 1, 2, 3]),
    trouble: someTrouble(choices),
  }),

  kindsOf({ how, by, results, isFollowed, workers = 1 }) {
    const isByFile = by === 'file' && how !== 'today';
    return [
      isOwnWay(how) ? `${how} by ${by}` : how,
      ...(isByFile ? [kindOfResults(results)] : []),
      ...(isFollowed && isByFile ? ['followed'] : []),
      ...(workers > 1 ? ['several workers'] : []),
    ];
  },

  tell: ({ how, by, source, results, isFollowed, workers = 1, trouble }) =>
    [
      `${how} by ${by} of ${listNames(source)}`,
      ...results.map(tellResult),
      isFollowed && 'somebody follows up at each look',
      workers > 1 && `${workers} workers`,
      trouble && tellTrouble(trouble),
    ]
      .filter(Boolean)
      .join('; '),

  *listSmaller(event) {
    if (event.trouble) yield { ...event, trouble: undefined };
    if ((event.workers ?? 1) > 1) yield { ...event, workers: 1 };
    if (event.isFollowed) yield { ...event, isFollowed: false };
    for (const results of withoutOne(event.results)) yield { ...event, results };
    if (event.source.length > 1) for (const source of withoutOne(event.source)) yield { ...event, source };
  },

  async live({ how, by, source, results, isFollowed, workers = 1, trouble }, stage) {
    // Trouble with the day before may have taken until its midnight: by then it is not today any more.
    if (how === 'today' && stage.clock() >= endOf(stage.day)) return undefined;
    stage.expectResults(results, isFollowed);
    stage.useWorkers(workers);
    stage.sources.set(stage.day, source);
    stage.writeExport(toCsv(source, stage.day));
    return stage.workOn(workFor(how, stage.iso, by), trouble);
  },

  isOnItsDay: ({ how }) => how === 'early' || how === 'today',
};

/** Whether it is asked by which way; others go the way that is configured, or that of the run before them. */
function isOwnWay(how: How): boolean {
  return how === 'run' || how === 'replay';
}

export function workFor(how: How, day: string, by: 'body' | 'file'): Work {
  switch (how) {
    case 'run':
      return ['run', day, '--delivery', by];
    case 'early':
      return ['run', day];
    case 'schedule':
      return { day, request: { mode: 'run', trigger: 'schedule', by: 'schedule' } };
    case 'hook':
      return { day, request: { mode: 'run', trigger: 'hook' } };
    case 'today':
      return { day, request: { mode: 'today', trigger: 'today', by: 'schedule' } };
    // It goes the way of the run before it.
    case 'top-up':
      return ['replay', day, '--late', '--reason', 'late bookings'];
    case 'replay':
      return ['replay', day, '--delivery', by, '--reason', 'again'];
  }
}
