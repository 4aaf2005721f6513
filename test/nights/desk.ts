import { dayPage } from '../../src/desk/day-page.js';
import { type DaysData, daysPage } from '../../src/desk/days-page.js';
import type { DeskVisit } from '../../src/desk/page.js';
import { otherParts } from '../desk/some-desk.js';
import type { World } from './world.js';

interface DayData {
  readonly headline: string;
  readonly needs: { readonly text: string } | null;
  /** Of all its runs. */
  readonly count: number;
}

/** What the pages of the day, and of all days, answer an operator's program. */
export async function visitDesk({ app, ledger }: World, day: string) {
  const visit: DeskVisit = {
    desk: { ...otherParts, ledger, archive: app.archive(), clock: Date.now },
    visitor: { name: 'ana', role: 'operator' },
    ...{ signedInBy: 'loopback', csrfToken: undefined, address: `/days/${day}` },
    ...{ timezone: app.config.timezone, now: Date.now(), today: app.today(), signal: app.signal },
    may: () => true,
  };
  const ofDay = (await dayPage.read({ day, page: 1 }, visit)) as DayData;
  const { days } = (await daysPage.read({}, visit)) as DaysData;
  return { ofDay, inCalendar: days.find((one) => one.day === day) };
}
