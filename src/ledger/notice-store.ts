import type { NoticeReader, NoticeStore } from '../notifications/notice-store.js';
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
import { dismiss, end, listOfDay, listProblems, listUnknown, raise, remind } from './notices.js';
import { change, type Dialect, one, type Query, type Store } from './query.js';

export function createNoticeStore(store: Store): NoticeStore {
  const { dialect, read, transact } = store;
  return {
    ...createNoticeReader(store),
    // Reads first, here and below: usually there is nothing new, and then no process waits for the right to write.
    async raise(notices) {
      const unknown = notices.length === 0 ? [] : await read(() => listUnknown(dialect, notices));
      return unknown.length === 0 ? 0 : transact(() => raise(dialect, unknown));
    },
    remind: (problem, at) => transact(() => remind(dialect, problem, at)),
    end: async (problems, { at, recovery }) =>
      problems.length === 0 ? 0 : transact(() => end(dialect, problems, at, recovery)),
    dismiss: async (problems, at) =>
      problems.length === 0 ? undefined : transact(() => dismiss(dialect, problems, at)),
    route: async (decide, at) =>
      (await read(() => hasNew(dialect))) ? transact(() => route(dialect, decide, at)) : 0,
    stopWaiting: (at) => transact(() => stopWaiting(dialect, at)),
    giveUpOthers: (channels, before) => transact(() => giveUpOthers(dialect, channels, before)),
    claim: async (request) =>
      (await read(() => hasDue(dialect, request))) ? transact(() => claim(dialect, request)) : [],
    extend: (ids, leaseUntil) => transact(() => extend(dialect, ids, leaseUntil)),
    release: (ids) => transact(() => release(dialect, ids)),
    noteSent: (ids, at) => transact(() => noteSent(dialect, ids, at)),
    noteFailed: (ids, failure) => transact(() => noteFailed(dialect, ids, failure)),
    noteFirst: async (name, at) =>
      (await read(() => findInstant(dialect, name))) ?? transact(() => noteFirst(dialect, name, at)),
  };
}

export function createNoticeReader({ dialect, read }: Store): NoticeReader {
  return {
    listProblems: () => read(() => listProblems(dialect)),
    listOfDay: (day, limit) => read(() => listOfDay(dialect, day, limit)),
    countMessages: () => read(() => countMessages(dialect)),
    listMessages: (options) => read(() => listMessages(dialect, options)),
  };
}

function* noteFirst(dialect: Dialect, name: string, at: number): Query<number> {
  yield* change(
    `INSERT INTO ${dialect.schema}noted_instants (name, at) VALUES (?, ?) ON CONFLICT (name) DO NOTHING`,
    name,
    at,
  );
  return (yield* findInstant(dialect, name)) ?? at;
}

function* findInstant({ schema }: Dialect, name: string): Query<number | undefined> {
  const row = yield* one(`SELECT at FROM ${schema}noted_instants WHERE name = ?`, name);
  return row && Number(row.at);
}
