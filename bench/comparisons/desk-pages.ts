import { renderTable } from '../../src/cli/tables.js';
import { postgresNeeds } from '../../test/support/postgres.js';
import type { Comparison, Stage } from '../comparison.js';
import { listAddresses } from '../desk/page-addresses.js';
import { goals, listMissed, type PageFigures, summarisePage } from '../desk/page-figures.js';
import { type LoadedPage, latencyMs, type ServedDesk, serveDesk } from '../desk/served-desk.js';
import { deskSizes } from '../desk/sizes.js';
import { prepareYears } from '../desk/years-ledger.js';
import { type DatabaseKind, databaseTitles } from '../ledger-place.js';

export interface DeskPagesOptions {
  readonly name: string;
  readonly database: DatabaseKind;
  readonly measures: 'time' | 'size';
}

const loadsOfEach = 20;

/** The worst of all pages of the desk after 1,000 days: its time while a run works in the same process, or its size. */
export function createDeskPagesComparison({ name, database, measures }: DeskPagesOptions): Comparison {
  const isTime = measures === 'time';
  return {
    name,
    work: `the ${isTime ? 'slowest' : 'largest'} page of the desk after 1,000 days on ${databaseTitles[database]}${isTime ? ', while a run works' : ''}`,
    against: '–',
    unit: isTime ? 'ms' : 'kB',
    reach: {
      ours: isTime ? { atMost: goals.milliseconds, unit: 'ms' } : { atMost: goals.kilobytes, unit: 'kB' },
    },
    // Each page is loaded several times in one.
    rounds: 1,
    findObstacle: () => (database === 'postgres' ? postgresNeeds : undefined),
    async prepare(scale): Promise<Stage> {
      const { years: size, worked } = deskSizes[scale];
      const years = await prepareYears(database, size);
      const addresses = Object.values(listAddresses(years.today, size)).flat();
      const desk = await serveDesk(years, worked);
      const missed: string[] = [];
      return {
        ours: {
          name: 'booked-hotel review',
          async run() {
            const pages = await (isTime ? loadWhileWorking(desk, addresses) : loadEach(desk, addresses, 1));
            report(pages);
            missed.push(...listMissed(pages, measures));
            if (pages.some(({ failures }) => failures.length > 0)) throw new Error(missed.join('; '));
            return {
              value: Math.max(
                ...pages.map(isTime ? ({ medianMs }) => medianMs : ({ kilobytes }) => kilobytes),
              ),
            };
          },
        },
        get notes() {
          return [
            `${addresses.length} addresses, with those that show the most, as somebody who may see everything.`,
            ...(isTime
              ? [
                  `Median of ${loadsOfEach} loads from this machine, while runs of ${worked.toLocaleString('en-GB')} bookings by body work in the same process; the service takes ${latencyMs} ms.`,
                ]
              : []),
            missed.length === 0 ? 'No page misses a goal.' : `Pages that miss a goal: ${missed.join('; ')}.`,
          ];
        },
        close: desk.close,
      };
    },
  };
}

/** Starts a run whenever none works. */
async function loadWhileWorking(
  desk: ServedDesk,
  addresses: readonly string[],
): Promise<readonly PageFigures[]> {
  let isLoading = true;
  const working = (async () => {
    while (isLoading) await desk.replay();
  })();
  const loading = loadEach(desk, addresses, loadsOfEach).finally(() => {
    isLoading = false;
  });
  const [pages] = await Promise.all([loading, working]);
  return pages;
}

/** All pages in turn, so that each meets all parts of a run. */
async function loadEach(
  desk: ServedDesk,
  addresses: readonly string[],
  times: number,
): Promise<readonly PageFigures[]> {
  const loads = new Map<string, LoadedPage[]>(addresses.map((address) => [address, []]));
  for (let turn = 0; turn < times; turn += 1)
    for (const [address, loaded] of loads) loaded.push(await desk.load(address));
  return [...loads].map(([address, loaded]) => summarisePage(address, loaded));
}

function report(pages: readonly PageFigures[]): void {
  const rows = pages.map(({ address, medianMs, slowestMs, kilobytes }) => [
    address,
    medianMs.toFixed(0),
    slowestMs.toFixed(0),
    kilobytes.toFixed(0),
  ]);
  console.error(renderTable(rows, ['page', 'median, ms', 'slowest, ms', 'kB']));
}
