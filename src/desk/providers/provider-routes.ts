import * as z from 'zod';
import { optionalDayField, pageField } from '../fields.js';
import { type DeskRoute, type DeskVisit, definePage } from '../page.js';
import { renderProviderPage, renderProvidersPage } from './provider-views.js';
import { groupDays, groupWeeks, type Range, readScores, type ScoreParts } from './read-scores.js';

/** Less than 100 kB per page, even over a thousand days. */
const providersPerPage = 25;

/** The scorecard: all providers compared, and how each one developed. */
export function createProviderRoutes(parts: ScoreParts): readonly DeskRoute[] {
  const asked = { from: optionalDayField, to: optionalDayField };
  return [
    definePage({
      path: '/providers',
      permission: 'look',
      input: z.object({ ...asked, page: pageField }),
      json: 'if-asked',
      read: (input, visit) => readProviders(parts, input, visit),
      render: renderProvidersPage,
    }),
    definePage({
      path: '/providers/:name',
      permission: 'look',
      input: z.object({ ...asked, name: z.string() }),
      read: (input, visit) => readProvider(parts, input, visit),
      render: renderProviderPage,
    }),
  ];
}

async function readProviders(
  parts: ScoreParts,
  { page, ...range }: Range & { readonly page: number },
  visit: DeskVisit,
) {
  const { days, providers, scored } = await readScores(parts, range, visit);
  const shown = providers.slice((page - 1) * providersPerPage, page * providersPerPage);
  return {
    ...boundsOf(days),
    total: providers.length,
    page,
    pages: Math.ceil(providers.length / providersPerPage),
    /** Most certain offender first, as `providers --json` prints them. */
    providers: shown.map((report) => ({
      ...report,
      /** The shares of affected bookings by week, oldest first; null if no verdict is known. */
      weeklyShares: groupWeeks(scored, report.providerName).map(({ affected, known }) =>
        affected === null ? null : affected / known,
      ),
    })),
  };
}

export type ProvidersData = Awaited<ReturnType<typeof readProviders>>;

async function readProvider(
  parts: ScoreParts,
  { name, ...range }: Range & { readonly name: string },
  visit: DeskVisit,
) {
  const { days, providers, scored } = await readScores(parts, range, visit);
  return {
    ...boundsOf(days),
    providerName: name,
    /** Null if none of its bookings was sent, and no case about it was opened. */
    score: providers.find(({ providerName }) => providerName === name) ?? null,
    weeks: groupWeeks(scored, name),
    days: groupDays(scored, name),
  };
}

export type ProviderData = Awaited<ReturnType<typeof readProvider>>;

function boundsOf(days: readonly string[]) {
  return { from: days.at(0) ?? '', to: days.at(-1) ?? '' };
}
