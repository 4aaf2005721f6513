import type { IncomingHttpHeaders } from 'node:http';
import type { Visitor } from './roles.js';

/** What of a request decides who is asking. */
export interface AccessRequest {
  readonly headers: IncomingHttpHeaders;
  /** Of the socket. */
  readonly remoteAddress: string | undefined;
}

export interface Visit {
  readonly visitor: Visitor;
  readonly signedInBy: 'password' | 'proxy' | 'loopback';
  /** What each form has to send; undefined for visitors who have no forms. */
  readonly csrfToken: string | undefined;
  /** A `Set-Cookie` header that keeps the session alive, when it is time. */
  readonly setCookie?: string;
}

export interface Credentials {
  readonly name: string;
  readonly password: string;
}

export type SignIn =
  /** With the `Set-Cookie` header of the session. */
  | { readonly kind: 'signed-in'; readonly visitor: Visitor; readonly cookie: string }
  /** With the name if there is such a user, for the audit trail: an unknown one may be a password in the wrong field. */
  | { readonly kind: 'wrong'; readonly knownName?: string }
  | { readonly kind: 'slowed'; readonly retryAfterSeconds: number };

/** Who may use the desk. */
export interface Access {
  /** Undefined: nobody is signed in. */
  identify(request: AccessRequest): Promise<Visit | undefined>;
  signIn(credentials: Credentials, request: AccessRequest): Promise<SignIn>;
  /** Ends the session of the request; returns the `Set-Cookie` header that removes its cookie. */
  signOut(request: AccessRequest): Promise<string>;
  /** Whether a form was not sent from a page of this visit. */
  isForged(visit: Visit, token: string | undefined): boolean;
}
