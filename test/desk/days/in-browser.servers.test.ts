import { afterEach, expect, it } from 'vitest';
import { noRuns } from '../../schedule/ledger-days.js';
import { expectNoAxeViolations, useBrowser } from '../../support/browser.js';
import { withReplaced } from '../../support/fake-ledger.js';
import { now, runsOnly, startDesk, stopServers } from '../some-desk.js';
import { listDays, nightlyRun } from './some-days.js';

const browser = useBrowser();
afterEach(stopServers);

const days = listDays('2026-08-01', 112);
const runs = days.flatMap((day, index) => {
  if (index % 10 === 3) return [];
  const changes = [
    {},
    { state: 'failed', failure: { class: 'data', code: 'missing', message: 'The source is missing.' } },
    { state: 'delivering' },
    { trigger: 'replay', counts: { affected: 3 } },
    { delivery: 'body', counts: { affected: null, unanswered: null } },
  ] as const;
  return [nightlyRun(day, index > 90 ? changes[index % changes.length] : {})];
});

function startDays() {
  const ledger = withReplaced(runsOnly(runs), {
    runs: { summarise: async () => ({ runsByState: noRuns, firstDay: days[0] ?? '' }) },
  });
  return startDesk({ ledger, role: 'operator', clock: () => now });
}

it.each([
  { size: 'wide', colours: 'dark' },
  { size: 'phone', colours: 'light' },
] as const)('axe finds nothing, and nothing scrolls sideways: %o', async (view) => {
  const { url } = await startDays();
  const page = await browser.open(view);
  await page.goto(url);
  await page.getByText(/older month/).click();
  await expectNoAxeViolations(page);
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
});

it('A day says what it is by its title, and the form of a replay previews a range, without a script', async () => {
  const { url } = await startDays();
  const page = await browser.open({ javaScript: false });
  await page.goto(url);
  await page.getByTitle('20 Nov 2026: ').waitFor();
  await page.getByRole('link', { name: 'Replay days…' }).click();
  await page.getByLabel('From').fill('2026-11-01');
  await page.getByLabel('To').fill('2026-11-20');
  await page.getByLabel('Which').selectOption('missing');
  await page.getByRole('button', { name: 'Show' }).click();
  expect(new URL(page.url()).search).toBe('?from=2026-11-01&to=2026-11-20&which=missing');
  await page.getByText('20 days of 20 would be reviewed').waitFor();
});
