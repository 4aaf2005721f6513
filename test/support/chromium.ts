import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Browser, BrowserContext } from 'playwright-core';

const program = (process.env.PATH ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'chromium'))
  .find((file) => existsSync(file));

/** What is missing here to start a browser. */
export const chromiumNeeds = program === undefined ? 'needs Chromium: apt-get install chromium' : undefined;

const sizes = {
  wide: { viewport: { width: 1_280, height: 900 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
} as const;

export interface View {
  readonly size?: keyof typeof sizes;
  readonly colours?: 'light' | 'dark';
  readonly javaScript?: boolean;
}

/** Debian's Chromium, without a window. */
export async function launchChromium(): Promise<Browser> {
  if (program === undefined) throw new Error(chromiumNeeds);
  // Loaded only where a browser is started.
  const { chromium } = await import('playwright-core');
  return chromium.launch({ executablePath: program });
}

/** A session of its own, which sees the desk in this way: wide, light and with JavaScript by default. */
export function openSession(
  browser: Browser,
  { size = 'wide', colours = 'light', javaScript = true }: View = {},
): Promise<BrowserContext> {
  return browser.newContext({
    ...sizes[size],
    colorScheme: colours,
    javaScriptEnabled: javaScript,
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: 'UTC',
  });
}
