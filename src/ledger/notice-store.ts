import type { NoticeReader, NoticeStore } from '../notifications/notice-store.js';
import {
  claim,
  countMessages,
  hasNew,
  listMessages,
  noteFailed,
  noteSent,
  release,
  route,
  stopWaiting,
} from './messages.js';
import { dismiss, end, listProblems, raise, remind } from './notices.js';
import { change, type Dialect, one, type Query, type Store } from './query.js';

export function createNoticeStore(store: Store): NoticeStore {
  const { dialect, read, transact } = store;
  return {
    ...createNoticeReader(store),
    raise: async (notices) => (notices.length === 0 ? 0 : transact(() => raise(dialect, notices))),
    remind: (problem, at) => transact(() => remind(dialect, problem, at)),
    end: async (problems, { at, recovery }) =>
      problems.length === 0 ? 0 : transact(() => end(dialect, problems, at, recovery)),
    dismiss: async (problems, at) =>
      problems.length === 0 ? undefined : transact(() => dismiss(dialect, problems, at)),
    // Usually there is nothing new: no process waits for the right to write then.
    route: async (decide, at) =>
      (await read(() => hasNew(dialect))) ? transact(() => route(dialect, decide, at)) : 0,
    stopWaiting: (at) => transact(() => stopWaiting(dialect, at)),
    claim: (request) => transact(() => claim(dialect, request)),
    release: (ids) => transact(() => release(dialect, ids)),
    noteSent: (ids, at) => transact(() => noteSent(dialect, ids, at)),
    noteFailed: (ids, failure) => transact(() => noteFailed(dialect, ids, failure)),
    noteFirst: (name, at) => transact(() => noteFirst(dialect, name, at)),
  };
}

export function createNoticeReader({ dialect, read }: Store): NoticeReader {
  return {
    listProblems: () => read(() => listProblems(dialect)),
    countMessages: () => read(() => countMessages(dialect)),
    listMessages: (options) => read(() => listMessages(dialect, options)),
  };
}

function* noteFirst({ schema }: Dialect, name: string, at: number): Query<number> {
  yield* change(
    `INSERT INTO ${schema}noted_instants (name, at) VALUES (?, ?) ON CONFLICT (name) DO NOTHING`,
    name,
    at,
  );
  return Number((yield* one(`SELECT at FROM ${schema}noted_instants WHERE name = ?`, name))?.at);
}
