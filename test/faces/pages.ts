import { type Role, roles } from '../../src/storage/access/roles.js';
import { passwordOfPeople, people } from '../support/desk-month/people.js';
import type { Samples } from '../support/desk-month/samples.js';

/** The paths of the desk that are recorded, by the name of their files. */
export function listPages({ failedDay, failedRun, fileRun, ...samples }: Samples, fileDay: string) {
  const { nearestCase, providerName, providerHotelId, reference } = samples;
  const provider = encodeURIComponent(providerName);
  return {
    days: '/',
    'day-by-file': `/days/${fileDay}`,
    'day-failed': `/days/${failedDay}`,
    'replay-a-day': `/days/${failedDay}/replay`,
    'replay-a-range': '/replay?from=2026-11-15&to=2026-11-22&which=missing',
    'run-by-file': `/runs/${fileRun}`,
    'run-failed': `/runs/${failedRun}`,
    rejected: `/runs/${fileRun}/rejected`,
    refused: `/runs/${failedRun}/refused`,
    unanswered: `/runs/${fileRun}/unanswered`,
    posted: `/runs/${fileRun}/posted`,
    suspects: `/runs/${fileRun}/suspects`,
    affected: `/runs/${fileRun}/affected`,
    manifest: `/runs/${fileRun}/manifest`,
    result: `/runs/${fileRun}/result`,
    booking: `/bookings?reference=${reference}`,
    bookings: '/bookings',
    mapping: `/mappings?provider=${provider}&hotel=${encodeURIComponent(providerHotelId)}`,
    mappings: '/mappings',
    providers: '/providers',
    provider: `/providers/${provider}`,
    notifications: '/notifications',
    cases: '/cases',
    'cases-csv': '/cases.csv',
    case: `/cases/${nearestCase}`,
    audit: '/audit',
    health: '/healthz',
    readiness: '/readyz',
    'not-there': '/nowhere',
  } as const;
}

/** What somebody with a role gets. */
export type Visit = (path: string, accept: 'text/html' | 'application/json') => Promise<string>;

/** Signs in somebody with each role. */
export async function signInAll(url: string): Promise<ReadonlyMap<Role, Visit>> {
  const visits = new Map<Role, Visit>();
  for (const role of roles) visits.set(role, await signIn(url, role));
  return visits;
}

async function signIn(url: string, role: Role): Promise<Visit> {
  const answer = await fetch(`${url}/sign-in`, {
    ...{ method: 'POST', redirect: 'manual', headers: { origin: url } },
    body: new URLSearchParams({ name: people[role], password: passwordOfPeople }),
  });
  const cookie = (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  if (cookie === '') throw new Error(`${role} could not sign in: ${answer.status}`);
  return async (path, accept) => {
    const page = await fetch(url + path, { headers: { cookie, accept }, redirect: 'manual' });
    const head = `${page.status} ${page.headers.get('content-type') ?? page.headers.get('location')}`;
    const body = (await page.text()).replaceAll(new RegExp(`\\b${people[role]}\\b`, 'g'), 'PERSON');
    return `${head}\n${accept === 'text/html' ? breakLines(body) : layOut(body)}\n`;
  };
}

/** A line for each element, so that differences can be read. */
function breakLines(html: string): string {
  return html.replace(/>\s*</g, '>\n<');
}

/** A line for each value. */
export function layOut(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 1);
  } catch {
    return json;
  }
}

/** Writes what the first role got, and then how what others got differs from that. */
export function joinRoles(texts: ReadonlyMap<Role, string>): string {
  const [[first, base] = ['nobody', '']] = texts;
  const lines = base.split('\n');
  const others = [...texts]
    .slice(1)
    .map(([role, text]) => `=== ${role}\n${listDifferences(lines, text.split('\n')).join('\n')}`);
  return [`=== ${first}\n${base}`, ...others].join('\n');
}

/** Lines that are gone or new; good enough for pages that are nearly the same. */
function listDifferences(before: readonly string[], after: readonly string[]): string[] {
  const found: string[] = [];
  let [at, to] = [0, 0];
  while (at < before.length || to < after.length) {
    if (before[at] === after[to]) {
      at += 1;
      to += 1;
      continue;
    }
    const { gone, added } = findNextMatch(before.slice(at), after.slice(to));
    found.push(`@@ line ${at + 1}`);
    for (const line of before.slice(at, at + gone)) found.push(`- ${line}`);
    for (const line of after.slice(to, to + added)) found.push(`+ ${line}`);
    at += gone;
    to += added;
  }
  return found;
}

/** How many lines of each to leave out until two lines in a row are the same again. */
function findNextMatch(before: readonly string[], after: readonly string[]) {
  for (let distance = 1; distance <= before.length + after.length; distance += 1)
    for (let gone = 0; gone <= distance; gone += 1) {
      const added = distance - gone;
      if (gone > before.length || added > after.length) continue;
      if (before[gone] === after[added] && before[gone + 1] === after[added + 1]) return { gone, added };
    }
  return { gone: before.length, added: after.length };
}
