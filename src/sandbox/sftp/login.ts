import type { Connection } from 'ssh2';
import { isSameSecret } from '../same-secret.js';
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
    // Both are compared: how long it takes says nothing of which was wrong.
    const userFits = isSameSecret(attempt.username, login.username);
    const passwordFits = isSameSecret(attempt.password, login.password);
    if (userFits && passwordFits) {
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
