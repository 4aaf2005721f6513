import { join } from 'node:path';
import { vi } from 'vitest';
import type { Role } from '../../src/storage/access/roles.js';
import { createUsers, openUsersFile } from '../../src/storage/access/users-file.js';
import { password, passwordHash } from '../desk/access/some-users.js';
import type { RunningCommand } from './command.js';
import type { DayFolder } from './day-folder.js';
import { patienceMs } from './patience.js';

/** A running `serve`, and somebody who is signed in to its pages. */
interface DeskVisitor {
  readonly serving: RunningCommand;
  readonly url: string;
  /** The JSON of a page, or of what an action would do. */
  look(path: string): Promise<Record<string, unknown>>;
  /** Does what the preview at this address shows. */
  act(path: string, fields?: Readonly<Record<string, string>>): Promise<DeskAnswer>;
  /** Stops `serve` and waits for its end. */
  stop(): Promise<void>;
}

interface DeskAnswer {
  readonly status: number;
  readonly data: Record<string, unknown>;
}

/** Lets these people sign in; `server.users` has to name `users.json`. */
export function writeUsers({ path }: DayFolder, people: Readonly<Record<string, Role>>): void {
  const users = Object.entries(people).map(([name, role]) => ({ name, role, password: passwordHash }));
  openUsersFile(join(path, 'users.json')).replace({ ...createUsers(), users });
}

/** Starts `serve` as a process of its own, and signs in. */
export async function visitDesk(folder: DayFolder, name: string): Promise<DeskVisitor> {
  const serving = folder.start(['serve', '--port', '0']);
  await serving.wrote('"serving"');
  const [, url = ''] = /"url":"([^"]+)"/.exec(serving.stderr) ?? [];
  const signedIn = await fetch(`${url}/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: url },
    body: new URLSearchParams({ name, password }),
  });
  const cookie = signedIn.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');
  const headers = { accept: 'application/json', cookie };
  const ask = async (path: string, init: RequestInit = {}): Promise<DeskAnswer> => {
    const response = await fetch(url + path, { ...init, headers });
    return { status: response.status, data: (await response.json()) as DeskAnswer['data'] };
  };
  /** If the ledger takes long, as on a busy machine, the desk asks to send the request again in a moment. */
  const look: DeskVisitor['look'] = (path) =>
    vi.waitUntil(
      async () => {
        const { status, data } = await ask(path);
        return status !== 503 && data;
      },
      { timeout: patienceMs, interval: 100 },
    );
  return {
    ...{ serving, url, look },
    async act(path, fields = {}) {
      const { token, seen } = await look(path);
      const body = new URLSearchParams({
        token: String(token),
        ...(typeof seen === 'string' && { seen }),
        ...fields,
      });
      return ask(path, { method: 'POST', body });
    },
    async stop() {
      serving.kill('SIGTERM');
      await serving.ended;
    },
  };
}

/** What a page says about a run. */
interface ShownRun {
  readonly runId: string;
  readonly state: string;
}

/** Waits until the newest run of the day is in that state. */
export function reached(desk: DeskVisitor, day: string, state: string): Promise<ShownRun> {
  return vi.waitUntil(
    async () => {
      const [newest] = (await desk.look(`/days/${day}`)).runs as readonly ShownRun[];
      return newest?.state === state && newest;
    },
    { timeout: patienceMs, interval: 20 },
  );
}

interface AuditEntry {
  readonly who: string;
  readonly action: string;
}

/** What the audit trail says, without how and when somebody signed in. */
export async function auditOf(folder: DayFolder): Promise<readonly AuditEntry[]> {
  const { json } = await folder.run(['audit', '--json']);
  return (json as { readonly entries: readonly AuditEntry[] }).entries.filter(
    ({ action }) => !action.startsWith('sign-') && !action.startsWith('user-'),
  );
}
