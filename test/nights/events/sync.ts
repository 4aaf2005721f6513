import type { App } from '../../../jobs/app.js';
import { syncCopy, watchCopy } from '../../../jobs/commands/mappings.js';
import { exitCode } from '../../../jobs/exit-code.js';
import { followUpSync } from '../../../jobs/follow-up.js';
import type { Choices } from '../choices.js';
import {
  allHotels,
  bookedHotels,
  type Change,
  listHotelsAtFirst,
  masters,
  type Sequel,
  sequels,
  type Telling,
} from '../mappings.js';
import { withoutOne } from '../results.js';
import { someTrouble, type Trouble, tellTrouble } from '../trouble.js';
import type { EventKind, OfDay, Stage } from './event.js';

/** The service changes mappings, and then the copy is synced. */
export interface Sync extends OfDay {
  readonly kind: 'sync';
  readonly by: 'command' | 'serve';
  readonly changes: readonly Change[];
  /** Of the hotel that moved last. */
  readonly sequel?: Sequel | undefined;
  readonly telling: Telling;
  readonly trouble?: Trouble | undefined;
  /** If it does not come to its end, nobody repeats it. */
  readonly isLeft: boolean;
}

const awayMs = 900_000;
const mostBooked = bookedHotels.slice(0, 2);

export const sync: EventKind<Sync> = {
  weights: { opening: 1, following: 4 },
  kinds: [
    ...['sync by command', 'sync by serve', 'key forgotten'],
    ...['mapping moved', 'mapping removed', 'hotels merged', 'late change'],
    ...sequels.map((sequel) => `moved hotel ${sequel}`),
  ],

  make: ({ day }, choices) => ({
    ...{ kind: 'sync', day },
    by: choices.pick(['command', 'serve']),
    ...(choices.isOneIn(3)
      ? { changes: [], sequel: choices.pick(sequels) }
      : { changes: someChanges(choices) }),
    telling: {
      pageSize: choices.pick([1, 2, 3, 10]),
      isLog: choices.isOneIn(2),
      leaving: choices.pick(['before', 'after', 'untold']),
      isUnnamed: choices.isOneIn(4),
      isOpenEnded: choices.isOneIn(3),
      ...(choices.isOneIn(6) && { forgetsAt: choices.pick([2, 3]) }),
    },
    trouble: someTrouble(choices),
    isLeft: choices.isOneIn(2),
  }),

  kindsOf: ({ by, changes, sequel, telling }) => [
    `sync by ${by}`,
    ...(sequel ? [`moved hotel ${sequel}`] : []),
    ...(telling.forgetsAt === undefined ? [] : ['key forgotten']),
    ...new Set(changes.map(({ to }) => (to === undefined ? 'mapping removed' : 'mapping moved'))),
    ...(isMerge(changes) ? ['hotels merged'] : []),
    ...(changes.some(({ isLate }) => isLate) ? ['late change'] : []),
  ],

  tell({ by, changes, sequel, telling, trouble, isLeft }) {
    const { pageSize, isLog, leaving, forgetsAt } = telling;
    return [
      ...changes.map(tellChange),
      sequel && `the hotel that moved last is ${sequel}`,
      `${by === 'command' ? 'somebody' : 'serve'} syncs, in pages of ${pageSize}, ${isLog ? `each change, what it left ${leaving}` : 'what it came to'}`,
      forgetsAt !== undefined && `the service forgets the key at call ${forgetsAt}`,
      trouble && `${tellTrouble(trouble)}${isLeft ? ', and nobody repeats it' : ''}`,
    ]
      .filter(Boolean)
      .join('; ');
  },

  *listSmaller(event) {
    if (event.trouble) yield { ...event, trouble: undefined };
    const { forgetsAt, ...telling } = event.telling;
    if (forgetsAt !== undefined) yield { ...event, telling };
    for (const changes of withoutOne(event.changes)) yield { ...event, changes };
  },

  async live(event, stage) {
    const { mappings, liveProcess, clock, reach } = stage;
    const sequel = event.sequel ? mappings.listSequel(event.sequel) : [];
    mappings.change([...event.changes, ...sequel], event.telling);
    const work = event.by === 'command' ? ['mappings', 'sync'] : serveOnce;
    let struck: string | undefined;
    for (let isOver = false; !isOver; ) {
      const before = await readSync(stage);
      const now = await liveProcess(work, struck === undefined ? event.trouble : undefined);
      struck ??= now;
      const { isEnded } = await noteTold(stage, before);
      isOver = now === undefined || (event.isLeft && !isEnded);
      if (!isOver) reach(clock() + awayMs);
      else stage.journal.push({ kind: 'synced', ...about(stage), isWatched: now === undefined });
    }
    return struck;
  },
};

/** What `serve` does on its schedule. */
async function serveOnce(app: App): Promise<number> {
  await syncCopy(app, app.mappingService());
  await followUpSync(app);
  await watchCopy(app);
  return exitCode.done;
}

function about({ day, app }: Stage) {
  return { day, today: app.today() };
}

interface LatestSync {
  readonly syncId?: string;
  readonly pages: number;
  readonly isEnded: boolean;
}

async function readSync({ ask }: Stage): Promise<LatestSync> {
  const { syncs } = (await ask('mappings', 'stats')).json;
  const [latest] = syncs;
  if (!latest) return { pages: 0, isEnded: false };
  return { syncId: latest.syncId, pages: latest.pages, isEnded: latest.finishedAt !== null };
}

/** Notes what the copy has been told: a process that died or failed may have lost the last page that it got. */
async function noteTold(stage: Stage, before: LatestSync): Promise<LatestSync> {
  const served = stage.mappings.takeServed();
  const latest = await readSync(stage);
  const stored = latest.pages - (latest.syncId === before.syncId ? before.pages : 0);
  if (stored !== served.length && stored !== served.length - 1)
    throw new Error(`the copy has stored ${stored} of ${served.length} pages`);
  const rows = served.slice(0, stored).flat();
  const all = latest.isEnded && { all: stage.mappings.readState() };
  stage.journal.push({ kind: 'told', ...about(stage), at: stage.clock(), rows, ...all });
  return latest;
}

function someChanges(choices: Choices): readonly Change[] {
  const { pick, isOneIn, some } = choices;
  const isLate = isOneIn(5) ? { isLate: true } : {};
  const target = () => (isOneIn(3) ? {} : { to: pick(masters) });
  // Some hotels move again and again.
  const someHotel = () => pick(isOneIn(3) ? bookedHotels : mostBooked);
  switch (pick(['none', 'one', 'one', 'some', 'merge', 'part', 'part', 'back', 'twice'] as const)) {
    case 'none':
      return [];
    case 'one':
      return [{ hotel: someHotel(), ...target(), ...isLate }];
    case 'some':
      return some(allHotels, 4).map((hotel) => ({ hotel, ...target() }));
    case 'merge': {
      const to = pick(masters);
      return listHotelsAtFirst(pick([11, 22, 44])).map((hotel) => ({ hotel, to, ...isLate }));
    }
    // The first of a merge, or the others.
    case 'part': {
      const hotels = listHotelsAtFirst(pick([11, 22]));
      return (isOneIn(2) ? hotels.slice(0, 1) : hotels.slice(1)).map((hotel) => ({ hotel, to: 55 }));
    }
    case 'back':
      return bookedHotels.map((hotel) => ({ hotel, to: Number(hotel.replace(/.* 0*(\d\d).?$/, '$1')) }));
    case 'twice': {
      const hotel = someHotel();
      return [
        { hotel, ...target() },
        { hotel, ...target() },
      ];
    }
  }
}

function isMerge(changes: readonly Change[]): boolean {
  const [first] = changes;
  return changes.length > 1 && changes.every(({ to }) => to !== undefined && to === first?.to);
}

function tellChange({ hotel, to, isLate }: Change): string {
  const what = to === undefined ? 'is not mapped any more' : `is mapped to ${to}`;
  return `${hotel} ${what}${isLate ? ', which is visible only now' : ''}`;
}
