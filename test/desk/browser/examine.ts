import type { Page } from 'playwright-core';
import { findAxeViolations } from '../../support/browser.js';
import { isNightly } from '../../support/nightly.js';

/** With the colours in which all rules are tried. Other colours change nothing but contrast. */
const windows = [
  { name: 'wide', size: { width: 1_280, height: 900 }, first: 'light', other: 'dark' },
  { name: 'phone', size: { width: 390, height: 844 }, first: 'dark', other: 'light' },
] as const;

/** By how many pixels a page has to be scrolled sideways. */
const overflow = '(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.documentElement)';

/** What is wrong with a page, wide and on a phone, light and dark: what axe finds, and whether it is wider than the window. */
export async function examine(page: Page, address: string, status = 200): Promise<readonly string[]> {
  const answer = await page.goto(address);
  const problems: string[] = [];
  if (answer?.status() !== status)
    problems.push(`${answer?.status()} instead of ${status}: ${await page.innerText('main')}`);
  for (const { name, size, first, other } of windows) {
    await page.setViewportSize(size);
    // Outside the nightly suite, one window is enough for the contrast of each colour scheme.
    const views = [{ colorScheme: first }, { colorScheme: other, rules: ['color-contrast'] }];
    for (const { colorScheme, rules } of isNightly ? views : views.slice(0, 1)) {
      await page.emulateMedia({ colorScheme });
      for (const words of await findAxeViolations(page, rules))
        problems.push(`${name}, ${colorScheme}: ${words}`);
    }
    const pixels = await page.evaluate<number>(overflow);
    if (pixels > 0) problems.push(`${name}: ${pixels} pixels wider than the window`);
  }
  return problems.map((problem) => `${new URL(address).pathname}: ${problem}`);
}
