import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type Html, html } from '../base/html.js';
import type { Permission } from '../storage/access/roles.js';
import type { DeskVisit, View } from './page.js';
import { showInstant } from './parts.js';

const areas: readonly { readonly name: string; readonly path: string; readonly permission: Permission }[] = [
  { name: 'Days', path: '/', permission: 'look' },
  { name: 'Cases', path: '/cases', permission: 'look' },
  { name: 'Bookings', path: '/bookings', permission: 'see-bookings' },
  { name: 'Mappings', path: '/mappings', permission: 'look' },
  { name: 'Providers', path: '/providers', permission: 'look' },
  { name: 'Notifications', path: '/notifications', permission: 'operate' },
  { name: 'Audit trail', path: '/audit', permission: 'see-audit' },
];

/**
 * The frame that all pages share: navigation, who is signed in, the message of a change that was just made, and the time. Without a
 * visit nobody is signed in, and there is no navigation.
 */
export function renderFrame(
  { style, script, icon }: Assets,
  { title, content, refreshSeconds }: View,
  visit?: DeskVisit,
  message?: string,
): string {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${refreshSeconds === undefined ? undefined : html`<noscript><meta http-equiv="refresh" content="${refreshSeconds}"></noscript>`}<title>${title} · Hotel review</title>
<link rel="icon" href="${icon.path}"><link rel="stylesheet" href="${style.path}"><script src="${script.path}" defer></script></head>
<body><header class="top"><a class="hidden" href="#main">Skip to the content</a><a class="brand" href="/">Hotel review</a>${visit && renderNavigation(visit)}</header>
<main id="main">${message === undefined ? undefined : html`<p class="card message" role="status">${message}</p>`}
<h1>${title}</h1>
${content}</main>
${visit && html`<footer>As of ${showInstant(visit.now, visit)}, ${visit.timezone}.</footer>`}
</body></html>
`.markup;
}

function renderNavigation(visit: DeskVisit): Html {
  const [path = '/'] = visit.address.split('?');
  const isIn = (area: string) =>
    area === '/' ? path === '/' || /^\/(?:days|runs|replay)\b/.test(path) : path.startsWith(area);
  return html`<button class="menu quiet" popovertarget="areas">Menu</button><nav class="areas" id="areas" popover aria-label="Areas"><ul>${areas
    .filter(({ permission }) => visit.may(permission))
    .map(
      (area) =>
        html`<li><a href="${area.path}"${isIn(area.path) ? html` aria-current="page"` : undefined}>${area.name}</a></li>`,
    )}</ul></nav>${renderVisitor(visit)}`;
}

function renderVisitor({ visitor, csrfToken, signedInBy }: DeskVisit): Html {
  const who = `${visitor.name}, ${visitor.role}`;
  if (signedInBy === 'loopback')
    return html`<p class="visitor">Read-only. To sign in, add a user: <code>hotel-review user add NAME --role admin</code></p>`;
  if (signedInBy !== 'password') return html`<p class="visitor">${who}</p>`;
  return html`<form class="visitor" method="post" action="/sign-out">${who}
<input type="hidden" name="token" value="${csrfToken ?? ''}"><button class="quiet">Sign out</button></form>`;
}

export type Assets = Awaited<ReturnType<typeof readAssets>>;

/** @param folder where they are */
export async function readAssets(folder: URL) {
  const read = (name: string) => readFile(new URL(name, folder), 'utf8');
  return {
    style: toAsset('css', 'text/css; charset=utf-8', await read('desk.css')),
    script: toAsset('js', 'text/javascript; charset=utf-8', await read('desk.js')),
    icon: toAsset('svg', 'image/svg+xml', await read('desk.svg')),
  };
}

/** Its address changes with its content: browsers may keep it forever. */
function toAsset(extension: string, contentType: string, content: string) {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 12);
  return { path: `/assets/desk-${hash}.${extension}`, contentType, content };
}
