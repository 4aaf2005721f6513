import { randomBytes } from 'node:crypto';
import { chownSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import * as z from 'zod';
import { replaceTextFile } from '../keys/durable-file.js';
import { codeOf, SafeError } from '../text/safe-error.js';
import { isPasswordHash } from './passwords.js';
import { type Role, roles } from './roles.js';

export interface User {
  /** In the form of `readUserName`. */
  readonly name: string;
  readonly role: Role;
  /** Undefined for a user who signs in elsewhere. */
  readonly password?: string;
}

export function userToJson({ name, role, password }: User) {
  return { name, role, hasPassword: password !== undefined };
}

export interface Users {
  /** Random bytes from which the keys of sessions and forms are derived. */
  readonly key: Buffer;
  /** Sorted by name. */
  readonly users: readonly User[];
}

export interface UsersFile {
  readonly path: string;
  /**
   * The users as they are now: the file is read again when it has changed. Undefined if there is no file.
   *
   * @throws UsersFileError for a damaged file
   */
  read(): Promise<Users | undefined>;
  /** Replaces the users atomically. */
  replace(users: Users): void;
}

/** The users' file has to be repaired by a person. */
export class UsersFileError extends SafeError {
  override readonly name = 'UsersFileError';
}

const userName = /^[!-~]{1,100}$/;

/** A name as it is stored: case makes no difference. Undefined for an impossible name. */
export function readUserName(written: string): string | undefined {
  return userName.test(written) ? written.toLowerCase() : undefined;
}

const schema = z.strictObject({
  key: z.base64().length(44, 'expected 32 bytes in base64'),
  users: z
    .array(
      z.strictObject({
        name: z.string().refine((name) => readUserName(name) === name, 'expected a name in small letters'),
        role: z.enum(roles),
        password: z.string().refine(isPasswordHash, 'expected a hash of scrypt').exactOptional(),
      }),
    )
    .refine(
      (users) => new Set(users.map(({ name }) => name)).size === users.length,
      'expected each name once',
    ),
});

export function createUsers(): Users {
  return { key: randomBytes(32), users: [] };
}

export function openUsersFile(path: string): UsersFile {
  let last: { readonly state: string; readonly users: Users } | undefined;

  async function readOpened(file: FileHandle): Promise<Users> {
    const { ino, size, mtimeNs, ctimeNs } = await file.stat({ bigint: true });
    const state = [ino, size, mtimeNs, ctimeNs].join(' ');
    if (last?.state === state) return last.users;
    const users = parse(await file.readFile('utf8'), path);
    last = { state, users };
    return users;
  }

  return {
    path,
    async read() {
      let file: FileHandle;
      try {
        file = await open(path, 'r');
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return undefined;
        throw error;
      }
      try {
        return await readOpened(file);
      } finally {
        await file.close();
      }
    },
    replace({ key, users }) {
      const owner = findOwner(path);
      replaceTextFile(path, `${JSON.stringify({ key: key.toString('base64'), users }, undefined, 2)}\n`);
      // After sudo, the account that runs `serve` must still be able to read it.
      if (owner && process.getuid?.() === 0) chownSync(path, owner.uid, owner.gid);
    },
  };
}

function findOwner(path: string) {
  return statSync(path, { throwIfNoEntry: false });
}

function parse(text: string, path: string): Users {
  const repair = 'restore it from a backup, or remove it and add the users again';
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    // The parser's own message quotes the file.
    throw new UsersFileError(`the users' file ${path} is not JSON: ${repair}`);
  }
  const { data, error } = schema.safeParse(content);
  if (data) return { key: Buffer.from(data.key, 'base64'), users: data.users };
  const [issue] = error.issues;
  const place = issue === undefined || issue.path.length === 0 ? 'it' : issue.path.join('.');
  throw new UsersFileError(`the users' file ${path} is damaged (${place}: ${issue?.message}): ${repair}`);
}
