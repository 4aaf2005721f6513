import { fileURLToPath } from 'node:url';
import { launchChromium, openSession } from '../test/support/chromium.js';
import { openDesk } from '../test/support/desk-month/desk.js';
import { makeDeskMonth } from '../test/support/desk-month/month.js';
import { passwordOfPeople, people } from '../test/support/desk-month/people.js';

/** Writes the picture of the desk from a month in the sandbox: `npm run screenshots`. */
const file = fileURLToPath(new URL('screenshots/days.png', import.meta.url));
/** A Monday. */
const today = '2026-11-23';
/** It is in the repository for good. */
const largest = 150_000;

const month = await makeDeskMonth({ today, bookingsADay: 400, wrongADay: 6 });
try {
  const desk = await openDesk(month);
  const browser = await launchChromium();
  const session = await openSession(browser);
  const page = await session.newPage();
  await page.setViewportSize({ width: 1_280, height: 700 });
  await page.request.post(`${desk.url}/sign-in`, {
    form: { name: people.operator, password: passwordOfPeople },
    headers: { origin: desk.url },
  });
  month.clock.set(`${today}T08:05:00Z`);
  const answer = await page.goto(desk.url);
  if (!answer?.ok()) throw new Error(`${answer?.status()} ${await page.innerText('main')}`);
  const { byteLength } = await page.screenshot({ path: file });
  await browser.close();
  await desk.close();
  console.log(`${file}: ${byteLength} bytes`);
  if (byteLength > largest) throw new Error(`more than ${largest} bytes: use a smaller view`);
} finally {
  await month.close();
}
