import { createScoreMemory } from '../../src/cases/scores/scorecard.js';
import type { Access } from '../../src/desk/access/access.js';
import { createCookie } from '../../src/desk/access/sessions.js';
import { createDesk } from '../../src/desk/desk.js';
import { readAssets } from '../../src/desk/frame.js';
import { createSummaryMemory } from '../../src/desk/mappings-page.js';
import type { DeskParts } from '../../src/desk/page.js';
import type { CheckCaller } from '../../src/desk/server/check-caller.js';
import type { RecordedAction } from '../../src/rules/action.js';
import { createCronTimes } from '../../src/schedule/cron-times.js';
import type { Role } from '../../src/storage/access/roles.js';
import { fakeLedger } from '../support/fake-ledger.js';
import { fakeOperations } from './operations/fake-operations.js';
import { now, type Parts, type SomeServer, startServer, timezone } from './server/some-server.js';

export { now, timezone } from './server/some-server.js';

export const assetsFolder = new URL('../../src/desk/assets/', import.meta.url);
export const csrfToken = 'token-of-the-test';

/** Admits everybody in one role; `undefined` is nobody. */
export function admitAs(role: Role | undefined): Access {
  return {
    hasUsers: async () => true,
    identify: async () => role && { visitor: { name: 'ana', role }, signedInBy: 'password', csrfToken },
    signIn: async () => ({ kind: 'wrong', address: '' }),
    openForm: async () => ({ token: csrfToken }),
    isOwnForm: async () => true,
    findFault: () => undefined,
    cookieFor: (_, name) => createCookie(name, false),
    signOut: async () => '',
  };
}

export interface SomeDesk extends SomeServer {
  /** What the desk recorded itself. */
  readonly recorded: RecordedAction[];
}

/** What the desk needs besides a ledger. */
export const otherParts: Omit<DeskParts, 'ledger'> = {
  operations: fakeOperations().operations,
  timezone,
  extraColumns: [],
  hashKey: undefined,
  unsearched: undefined,
  packEvidence: async (subject) => ({ zip: Buffer.from('PK'), subject }),
  limits: {
    retry: { tries: 6, baseMs: 1_000, capMs: 60_000 },
    resultTimeoutMs: 6 * 3_600_000,
  },
  guestNameDays: 30,
  placeUnit: 'line',
  command: (words) => `hotel-review ${words}`,
  clock: () => now,
  archive: { list: async () => [], async *read() {} },
  scores: createScoreMemory(fakeLedger({})),
  summariseMappings: createSummaryMemory(),
  nights: createCronTimes('30 2 * * *', timezone),
  deadline: undefined,
  mailboxPollMs: undefined,
  health: { look: async () => ({ ready: true, parts: { ledger: 'ok' } }) },
};

interface DeskOptions extends Pick<Parts, 'limits' | 'shortenPaths' | 'checks' | 'hosts' | 'stays'> {
  readonly ledger: DeskParts['ledger'];
  readonly role?: Role | undefined;
  /** Instead of a role. */
  readonly access?: Access;
  readonly clock?: () => number;
  /** Instead of what remembers what was recorded. */
  readonly record?: (action: RecordedAction) => Promise<void>;
  readonly checkCaller?: CheckCaller;
  /** Parts of the desk besides the ledger. */
  readonly parts?: Partial<DeskParts>;
}

/** Starts a server with the desk over this ledger. */
export async function startDesk({
  ledger,
  clock = () => now,
  parts,
  access,
  checkCaller,
  record,
  ...options
}: DeskOptions): Promise<SomeDesk> {
  const { role = 'viewer', ...others } = options;
  const recorded: RecordedAction[] = [];
  const logged: string[] = [];
  const note = (fields: object, message: string) => void logged.push(JSON.stringify({ ...fields, message }));
  const desk = createDesk(
    { ...otherParts, clock, ledger, scores: createScoreMemory(ledger), ...parts },
    {
      access: access ?? admitAs('role' in options ? options.role : role),
      checkCaller,
      assets: await readAssets(assetsFolder),
      record: record ?? (async (action) => void recorded.push(action)),
      signal: new AbortController().signal,
      log: { info: note, error: () => {} },
    },
  );
  return { ...(await startServer({ ...others, clock, desk })), recorded, logged };
}

/** What a browser gets. */
export async function getPage(url: string, path: string) {
  const response = await fetch(url + path, { headers: { accept: 'text/html' }, redirect: 'manual' });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** The cells of the first table of a page, row by row, as texts. */
export function readRows(page: string): readonly (readonly string[])[] {
  const [, body = ''] = /<tbody>(.*?)<\/tbody>/s.exec(page) ?? [];
  return [...body.matchAll(/<tr.*?<\/tr>/gs)].map(([row]) =>
    [...row.matchAll(/<(t[hd])\b[^>]*>(.*?)<\/\1>/gs)].map(([, , cell = '']) =>
      cell.replace(/<[^>]*>/g, '').trim(),
    ),
  );
}

/** What a program gets. */
export async function getData(url: string, path: string) {
  const response = await fetch(url + path, { headers: { accept: 'application/json' } });
  return { status: response.status, headers: response.headers, data: await response.json() };
}
