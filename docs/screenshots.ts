import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Role } from '../src/access/roles.js';
import { launchChromium, openSession, type View } from '../test/support/chromium.js';
import { openDesk } from '../test/support/desk-month/desk.js';
import { makeDeskMonth } from '../test/support/desk-month/month.js';
import { passwordOfPeople, people } from '../test/support/desk-month/people.js';
import { findSamples, type Samples } from '../test/support/desk-month/samples.js';

/**
 * Writes docs/screenshots from a month in the sandbox: `npm run screenshots`. What the pages say is the same each time, but for
 * what took how long, and the ids of runs.
 */
const folder = fileURLToPath(new URL('screenshots', import.meta.url));
/** A Monday. */
const today = '2026-11-23';
/** They are in the repository for good. */
const largest = 150_000;

interface Shot {
  readonly name: string;
  readonly path: (samples: Samples) => string;
  /** Who looks; an operator by default. */
  readonly role?: Role;
  readonly view?: View;
}

const shots: readonly Shot[] = [
  { name: 'days', path: () => '/' },
  { name: 'days-dark', path: () => '/', view: { colours: 'dark' } },
  { name: 'day', path: ({ failedDay }) => `/days/${failedDay}` },
  { name: 'run', path: ({ fileRun }) => `/runs/${fileRun}` },
  { name: 'replay', path: ({ failedDay }) => `/days/${failedDay}/replay` },
  { name: 'cases', path: () => '/cases', role: 'team' },
  { name: 'cases-phone', path: () => '/cases', role: 'team', view: { size: 'phone' } },
  { name: 'case', path: ({ nearestCase }) => `/cases/${nearestCase}`, role: 'team' },
  { name: 'booking', path: ({ reference }) => `/bookings?reference=${reference}`, role: 'team' },
  { name: 'providers', path: () => '/providers' },
];

const month = await makeDeskMonth({ today, bookingsADay: 400, wrongADay: 6 });
try {
  const samples = await findSamples(month);
  const desk = await openDesk(month);
  const browser = await launchChromium();
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  for (const { name, path, role = 'operator', view } of shots) {
    const session = await openSession(browser, view);
    const page = await session.newPage();
    await page.request.post(`${desk.url}/sign-in`, {
      form: { name: people[role], password: passwordOfPeople },
    });
    // All of them are of the same minute.
    month.clock.set(`${today}T08:05:00Z`);
    const answer = await page.goto(desk.url + path(samples));
    if (!answer?.ok()) throw new Error(`${name}: ${answer?.status()} ${await page.innerText('main')}`);
    const file = join(folder, `${name}.png`);
    await page.screenshot({ path: file });
    const { size } = await stat(file);
    if (size > largest) throw new Error(`${file} has ${size} bytes, more than ${largest}`);
    await session.close();
  }
  await browser.close();
  await desk.close();
} finally {
  await month.close();
}
