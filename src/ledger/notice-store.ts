import type { ClaimRequest } from './messages.js';
import {
  claim,
  countMessages,
  extend,
  giveUpOthers,
  hasDue,
  hasNew,
  listMessages,
  noteFailed,
  noteSent,
  release,
  route,
  stopWaiting,
} from './messages.js';
import type { NewNotice, Notice } from './notice.js';
import type { PlannedMessage } from './notices.js';
import { dismiss, end, listOfDay, listProblems, listUnknown, raise, remind } from './notices.js';
import { bind, change, one, type Query, type Store } from './query.js';

export function createNotices(store: Store) {
  const { read, transact } = store;
  return {
    ...createNoticeReader(store),
    ...bind(transact, {
      remind,
      end,
      dismiss,
      stopWaiting,
      giveUpOthers,
      extend,
      release,
      noteSent,
      noteFailed,
    }),

    // Reads first, here and below: usually there is nothing new, and then no process waits for the right to write.
    /** Raises what is not known yet: see `placeNotice`. Returns how many were new. */
    async raise(notices: readonly NewNotice[]): Promise<number> {
      const unknown = notices.length === 0 ? [] : await read(() => listUnknown(notices));
      return unknown.length === 0 ? 0 : transact(() => raise(unknown));
    },

    /** Plans the messages of new notices. Returns how many. */
    route: async (decide: (notice: Notice) => readonly PlannedMessage[], at: number) =>
      (await read(hasNew)) ? transact(() => route(decide, at)) : 0,

    claim: async (request: ClaimRequest) =>
      (await read(() => hasDue(request))) ? transact(() => claim(request)) : [],

    /** When something happened first. */
    noteFirst: async (name: string, at: number) =>
      (await read(() => findInstant(name))) ?? transact(() => noteFirst(name, at)),
  };
}

export function createNoticeReader({ read }: Store) {
  return bind(read, { listProblems, listOfDay, countMessages, listMessages });
}

function* noteFirst(name: string, at: number): Query<number> {
  yield* change(
    `INSERT INTO noted_instants (name, at) VALUES (?, ?) ON CONFLICT (name) DO NOTHING`,
    name,
    at,
  );
  return (yield* findInstant(name)) ?? at;
}

function* findInstant(name: string): Query<number | undefined> {
  const row = yield* one(`SELECT at FROM noted_instants WHERE name = ?`, name);
  return row && Number(row.at);
}
