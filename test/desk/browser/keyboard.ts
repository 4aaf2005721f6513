import type { Page } from 'playwright-core';

/** More than any page has. */
const mostStops = 300;

/** What the focus is on, in the words that a screen reader would say. */
const nameOfFocused = `(({ activeElement: one }) =>
  (one.getAttribute('title') ?? one.getAttribute('aria-label') ?? one.labels?.[0]?.textContent ?? one.textContent).replace(/\\s+/g, ' ').trim()
)(document)`;

/** For somebody who has no mouse. */
export function useKeyboard(page: Page) {
  return {
    press: (key: string) => page.keyboard.press(key),
    type: (text: string) => page.keyboard.type(text),
    /** Moves the focus on until it is on an element with that name. */
    async tabTo(name: string | RegExp): Promise<void> {
      const passed: string[] = [];
      for (let stop = 0; stop < mostStops; stop += 1) {
        const focused = await page.evaluate<string>(nameOfFocused);
        if (typeof name === 'string' ? focused === name : name.test(focused)) return;
        passed.push(focused.slice(0, 40));
        await page.keyboard.press('Tab');
      }
      throw new Error(`the focus is never on ${name}, but on: ${[...new Set(passed)].join(' | ')}`);
    },
  };
}
