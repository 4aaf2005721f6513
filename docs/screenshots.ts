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
  /** Of the window, where it is not that of the view. */
  readonly height?: number;
  /** The heading that is at the top of the image; the page begins there by default. */
  readonly from?: string;
}

const shots: readonly Shot[] = [
  { name: 'days', path: () => '/', height: 700 },
  { name: 'calendar', path: () => '/', from: 'Calendar', height: 640 },
  { name: 'calendar-dark', path: () => '/', from: 'Calendar', height: 640, view: { colours: 'dark' } },
  { name: 'day', path: ({ failedDay }) => `/days/${failedDay}` },
  { name: 'run', path: ({ fileRun }) => `/runs/${fileRun}` },
  { name: 'replay', path: ({ failedDay }) => `/days/${failedDay}/replay`, height: 500 },
  { name: 'cases', path: () => '/cases?country=DK', role: 'team', height: 720 },
  { name: 'case', path: ({ nearestCase }) => `/cases/${nearestCase}`, role: 'team', height: 800 },
  {
    ...{ name: 'case-phone', path: ({ nearestCase }) => `/cases/${nearestCase}`, role: 'team' },
    view: { size: 'phone' },
  },
  {
    ...{ name: 'booking', path: ({ reference }) => `/bookings?reference=${reference}`, role: 'team' },
    height: 850,
  },
  { name: 'providers', path: () => '/providers' },
];

const month = await makeDeskMonth({ today, bookingsADay: 400, wrongADay: 6 });
try {
  const samples = await findSamples(month);
  const desk = await openDesk(month);
  const browser = await launchChromium();
  const tooLarge: string[] = [];
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  for (const { name, path, role = 'operator', view, height, from } of shots) {
    const session = await openSession(browser, view);
    const page = await session.newPage();
    await page.request.post(`${desk.url}/sign-in`, {
      form: { name: people[role], password: passwordOfPeople },
    });
    // All of them are of the same minute.
    month.clock.set(`${today}T08:05:00Z`);
    const answer = await page.goto(desk.url + path(samples));
    if (!answer?.ok()) throw new Error(`${name}: ${answer?.status()} ${await page.innerText('main')}`);
    const { width = 0 } = page.viewportSize() ?? {};
    if (height !== undefined) await page.setViewportSize({ width, height });
    if (from !== undefined)
      await page.getByRole('heading', { name: from }).evaluate((heading) => heading.scrollIntoView());
    const file = join(folder, `${name}.png`);
    await page.screenshot({ path: file });
    const { size } = await stat(file);
    console.log(`${name}: ${size} bytes`);
    if (size > largest) tooLarge.push(name);
    await session.close();
  }
  await browser.close();
  await desk.close();
  if (tooLarge.length > 0)
    throw new Error(`more than ${largest} bytes each: ${tooLarge.join(', ')}; use a smaller view`);
} finally {
  await month.close();
}
