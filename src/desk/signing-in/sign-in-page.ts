import { html } from '../../text/html.js';
import type { View } from '../routing/route.js';

export const signInPath = '/sign-in';
export const signOutPath = '/sign-out';

interface SignInForm {
  /** The page to continue at. */
  readonly to: string;
  /** As typed in the last attempt. */
  readonly name?: string | undefined;
  /** Why the last attempt failed. */
  readonly problem?: string | undefined;
}

export function renderSignIn({ to, name, problem }: SignInForm): View {
  return {
    title: 'Sign in',
    content: html`${problem === undefined ? undefined : html`<p class="card refusal" role="alert">${problem}</p>`}
<form class="card change sign-in" method="post" action="${signInPath}"><input type="hidden" name="to" value="${to}">
<label>Name<input name="name" value="${name ?? ''}" autocomplete="username" autocapitalize="none" spellcheck="false" maxlength="100" required${name === undefined ? html` autofocus` : undefined}></label>
<label>Password<input name="password" type="password" autocomplete="current-password" maxlength="1000" required${name === undefined ? undefined : html` autofocus`}></label>
<p class="buttons"><button>Sign in</button></p></form>`,
  };
}

const longestPath = 2_000;

/** The page to continue at: always a path of this server. */
export function readReturnPath(written: string | undefined): string {
  if (written === undefined || written.length > longestPath || !written.startsWith('/')) return '/';
  const base = 'http://desk.invalid';
  if (!URL.canParse(written, base)) return '/';
  // Only path and query are kept, whatever host was given.
  const { pathname, search } = new URL(written, base);
  // Resolving dots may leave two leading slashes, which browsers take for another host.
  return pathname.startsWith('//') || pathname === signInPath ? '/' : `${pathname}${search}`;
}
