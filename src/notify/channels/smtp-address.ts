import { isLoopback } from '../../base/addresses.js';

/** A mail server, as `smtp://USER:PASSWORD@HOST:PORT` or `smtps://…` names it. */
export interface SmtpAddress {
  readonly host: string;
  readonly port: number;
  /** Whether TLS begins with the connection. */
  readonly isImplicitTls: boolean;
  readonly isThisMachine: boolean;
  readonly login?: { readonly user: string; readonly password: string };
}

/** Undefined for anything else. */
export function readSmtpAddress(text: string): SmtpAddress | undefined {
  const form = /^(smtps?):\/\/[^/?#]+\/?$/i.exec(text);
  if (form === null || !URL.canParse(text)) return undefined;
  const { hostname, port, username, password } = new URL(text);
  const login = readLogin(username, password);
  if (hostname === '' || login === undefined) return undefined;
  const isImplicitTls = form[1]?.toLowerCase() === 'smtps';
  const host = hostname.toLowerCase();
  return {
    host: host.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? (isImplicitTls ? 465 : 587) : Number(port),
    isImplicitTls,
    isThisMachine: isLoopback(host),
    ...(login.user !== '' && { login }),
  };
}

/** Undefined for a password without a user, and for a stray %. */
function readLogin(username: string, password: string): SmtpAddress['login'] {
  try {
    const login = { user: decodeURIComponent(username), password: decodeURIComponent(password) };
    return login.user === '' && login.password !== '' ? undefined : login;
  } catch {
    return undefined;
  }
}
