import * as z from 'zod';
import { optionalDayField, pageField } from '../routing/fields.js';
import { type DeskRoute, definePage } from '../routing/route.js';
import { courseItem, providerReport } from './provider-schema.js';
import { renderProviderPage, renderProvidersPage } from './provider-views.js';
import { groupDays, groupWeeks, readScores, type ScoreParts } from './read-scores.js';

const bounds = { from: z.string(), to: z.string() };

const providersData = z.object({
  ...bounds,
  /** The number of all providers. */
  total: z.int(),
  page: z.int(),
  pages: z.int(),
  /** Most certain offender first, as `providers --json` prints them. */
  providers: z.array(
    providerReport.extend({
      /** The shares of affected bookings by week, oldest first; null if no verdict is known. */
      weeklyShares: z.array(z.number().nullable()),
    }),
  ),
});

const providerData = z.object({
  ...bounds,
  providerName: z.string(),
  /** Null if none of its bookings was sent, and no case about it was opened. */
  score: providerReport.nullable(),
  weeks: z.array(courseItem),
  days: z.array(courseItem),
});

export type ProvidersData = z.output<typeof providersData>;
export type ProviderData = z.output<typeof providerData>;

/** Less than 100 kB per page, even over a thousand days. */
const providersPerPage = 25;

/** The scorecard: all providers compared, and how each one developed. */
export function createProviderRoutes(parts: ScoreParts): readonly DeskRoute[] {
  const asked = { from: optionalDayField, to: optionalDayField };
  return [
    definePage({
      path: '/providers',
      permission: 'look',
      summary: 'The providers compared over a range of days, the last 90 by default',
      input: z.object({ ...asked, page: pageField }),
      data: providersData,
      async read({ page, ...range }, visit) {
        const { days, providers, scored } = await readScores(parts, range, visit);
        const shown = providers.slice((page - 1) * providersPerPage, page * providersPerPage);
        return {
          ...boundsOf(days),
          total: providers.length,
          page,
          pages: Math.ceil(providers.length / providersPerPage),
          providers: shown.map((report) => ({
            ...report,
            weeklyShares: groupWeeks(scored, report.providerName).map(({ affected, known }) =>
              affected === null ? null : affected / known,
            ),
          })),
        };
      },
      render: renderProvidersPage,
    }),
    definePage({
      path: '/providers/:name',
      permission: 'look',
      summary: 'A provider over a range of days, the last 90 by default',
      input: z.object({ ...asked, name: z.string() }),
      data: providerData,
      async read({ name, ...range }, visit) {
        const { days, providers, scored } = await readScores(parts, range, visit);
        return {
          ...boundsOf(days),
          providerName: name,
          score: providers.find(({ providerName }) => providerName === name) ?? null,
          weeks: groupWeeks(scored, name),
          days: groupDays(scored, name),
        };
      },
      render: renderProviderPage,
    }),
  ];
}

function boundsOf(days: readonly string[]) {
  return { from: days.at(0) ?? '', to: days.at(-1) ?? '' };
}
