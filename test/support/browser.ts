import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished } from 'vitest';
import { chromiumNeeds, launchChromium, openSession, type View } from './chromium.js';
import { patienceMs } from './patience.js';

export interface TestBrowser {
  /**
   * Opens an empty page with cookies of its own. The test fails if a page logs an error, such as a violation of its policy, or
   * makes a request to another machine.
   */
  open(view?: View): Promise<Page>;
}

/** One browser for the tests of a file, which are skipped where there is none. */
export function useBrowser(): TestBrowser {
  let browser: Browser;
  beforeEach(({ skip }) => skip(chromiumNeeds !== undefined, chromiumNeeds));
  beforeAll(async () => {
    if (chromiumNeeds === undefined) browser = await launchChromium();
  });
  afterAll(() => browser?.close());
  return {
    async open(view) {
      const context = await openSession(browser, view);
      context.setDefaultTimeout(patienceMs);
      const complaints: string[] = [];
      context.on('console', (message) => {
        if (message.type() === 'error' && !isOfStatus(message.text())) complaints.push(message.text());
      });
      context.on('weberror', (error) => complaints.push(String(error.error())));
      context.on('request', (request) => {
        const { hostname, protocol } = new URL(request.url());
        if (hostname !== '127.0.0.1' && protocol !== 'blob:') complaints.push(`asked ${request.url()}`);
      });
      onTestFinished(async () => {
        await context.close();
        expect(complaints).toEqual([]);
      });
      return context.newPage();
    },
  };
}

/** Tests also visit pages where a refusal is the right answer. */
function isOfStatus(complaint: string): boolean {
  return complaint.startsWith('Failed to load resource: the server responded with a status of');
}

let axe: string | undefined;

/** Each rule that the page breaks, with the element that breaks it. */
export async function findAxeViolations(page: Page): Promise<readonly string[]> {
  axe ??= readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  // Evaluated by the debugger, so that the page's policy stays as it is.
  if (await page.evaluate('typeof axe === "undefined"')) await page.evaluate(axe);
  const { violations } = await page.evaluate<AxeResults>("axe.run({ resultTypes: ['violations'] })");
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`),
  );
}
