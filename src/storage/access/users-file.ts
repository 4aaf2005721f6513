import { randomBytes } from 'node:crypto';
import { chownSync, statSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import * as z from 'zod';
import { codeOf, SafeError } from '../../base/safe-error.js';
import { replaceTextFile } from '../durable-file.js';
import { isPasswordHash } from './passwords.js';
import { roles } from './roles.js';

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
  /** Random bytes from which the keys of sessions and forms are derived. */
  key: z
    .base64()
    .length(44, 'expected 32 bytes in base64')
    .transform((text) => Buffer.from(text, 'base64')),
  users: z
    .array(
      z.strictObject({
        name: z.string().refine((name) => readUserName(name) === name, 'expected a name in small letters'),
        role: z.enum(roles),
        /** Absent for a user who signs in elsewhere. */
        password: z.string().refine(isPasswordHash, 'expected a hash of scrypt').exactOptional(),
      }),
    )
    .readonly()
    .refine(
      (users) => new Set(users.map(({ name }) => name)).size === users.length,
      'expected each name once',
    ),
});

export type Users = Readonly<z.output<typeof schema>>;
export type User = Readonly<Users['users'][number]>;

export function userToJson({ name, role, password }: User) {
  return { name, role, hasPassword: password !== undefined };
}

export function createUsers(): Users {
  return { key: randomBytes(32), users: [] };
}

export type UsersFile = ReturnType<typeof openUsersFile>;

export function openUsersFile(path: string) {
  let last: { readonly state: string; readonly users: Users } | undefined;

  return {
    path,
    /**
     * The users as they are now: the file is read again when it has changed. Undefined if there is no file.
     *
     * @throws UsersFileError for a damaged file
     */
    async read(): Promise<Users | undefined> {
      try {
        // Before the content: if the file changes in between, it is read once more.
        const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
        const state = [ino, size, mtimeNs, ctimeNs].join(' ');
        if (last?.state === state) return last.users;
        const users = parse(await readFile(path, 'utf8'), path);
        last = { state, users };
        return users;
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return undefined;
        throw error;
      }
    },
    /** Replaces the users atomically. */
    replace({ key, users }: Users): void {
      const owner = statSync(path, { throwIfNoEntry: false });
      replaceTextFile(path, `${JSON.stringify({ key: key.toString('base64'), users }, undefined, 2)}\n`);
      // After sudo, the account that runs `serve` must still be able to read it.
      if (owner && process.getuid?.() === 0) chownSync(path, owner.uid, owner.gid);
    },
  };
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
  if (data) return data;
  const [issue] = error.issues;
  const setting = issue?.path.join('.') || 'it';
  throw new UsersFileError(`the users' file ${path} is damaged (${setting}: ${issue?.message}): ${repair}`);
}
