import { createHash, timingSafeEqual } from 'node:crypto';
import type { Connection } from 'ssh2';
import type { SftpEvent } from './sftp-event.js';

export interface Login {
  readonly username: string;
  readonly password: string;
}

/** As many as OpenSSH allows. */
const maxWrongPasswords = 6;

/** Lets a client in who knows user name and password; no other way of logging in is offered. */
export function guardLogin(connection: Connection, login: Login, onEvent: (event: SftpEvent) => void): void {
  let wrongPasswords = 0;
  let triedOtherwise = false;
  let loggedIn = false;

  connection.on('authentication', (attempt) => {
    if (attempt.method !== 'password') {
      // With none, clients ask what there is.
      if (attempt.method !== 'none') triedOtherwise = true;
      attempt.reject(['password']);
      return;
    }
    const { username, password } = attempt;
    if (isSame(username, login.username, password, login.password)) {
      attempt.accept();
      return;
    }
    wrongPasswords += 1;
    onEvent({ kind: 'login-refused', reason: 'wrong-login' });
    if (wrongPasswords < maxWrongPasswords) attempt.reject(['password']);
    else connection.end();
  });
  connection.on('ready', () => {
    loggedIn = true;
    onEvent({ kind: 'logged-in' });
  });
  connection.on('close', () => {
    const gaveUp = !loggedIn && wrongPasswords === 0 && triedOtherwise;
    if (gaveUp) onEvent({ kind: 'login-refused', reason: 'no-password' });
  });
}

/** In the same time whichever of both is wrong, and how much of it. */
function isSame(username: string, rightUsername: string, password: string, rightPassword: string): boolean {
  const rightUser = timingSafeEqual(sha256(username), sha256(rightUsername));
  const rightWord = timingSafeEqual(sha256(password), sha256(rightPassword));
  return rightUser && rightWord;
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
