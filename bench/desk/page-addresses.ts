import { hotelOf } from '../many-days.js';
import { referenceOf } from './made-runs.js';
import { goBack, planRuns, specialDays, type YearsSize } from './planned-runs.js';

/**
 * Addresses of every page of the desk, and of the preview of every action, in a ledger made by `fillYears`, by the path
 * of its route: those that show the most, and a usual one.
 */
export function listAddresses(today: string, size: YearsSize): Readonly<Record<string, readonly string[]>> {
  const days = planRuns(today, size);
  const special = specialDays(today);
  const runOf = (day: string) => {
    const run = days.flat().findLast((one) => one.day === day);
    if (!run) throw new RangeError(`expected a day with runs, got: ${day}`);
    return run;
  };
  const [manyBatches, longLists] = [runOf(special.manyBatches), runOf(special.longLists)];
  const usual = required(days[Math.floor(size.days / 2)]?.at(-1));
  const { providerName, providerHotelId } = hotelOf(1);
  const provider = encodeURIComponent(providerName);
  const firstDay = required(days[0]?.[0]).day;
  const manyDays = `/replay?from=${[goBack(today, 365), firstDay].sort().at(-1)}&to=${special.worked}`;
  const manyCases = Array.from({ length: 20 }, (_, index) => `id=${index + 1}`).join('&');
  const list = (name: string, id: string) => [`/runs/${id}/${name}`, `/runs/${id}/${name}?page=2`];
  return {
    '/': ['/', '/?select=all'],
    '/days/:day': [special.manyBatches, special.longLists, usual.day].map((day) => `/days/${day}`),
    '/runs/:id': [manyBatches, longLists, usual].map(({ id }) => `/runs/${id}`),
    '/runs/:id/rejected': list('rejected', longLists.id),
    '/runs/:id/refused': list('refused', manyBatches.id),
    '/runs/:id/unanswered': list('unanswered', longLists.id),
    '/runs/:id/posted': list('posted', longLists.id),
    '/runs/:id/suspects': list('suspects', longLists.id),
    '/runs/:id/affected': list('affected', longLists.id),
    '/cases': [
      '/cases',
      '/cases?state=all&page=20',
      '/cases?country=ES&checkInBefore=2199-06-30',
      '/cases?provider=Provider%201',
      '/cases?text=BR-3-1204',
    ],
    '/cases/:id': ['/cases/7', `/cases/${size.cases}`],
    '/bookings': [longLists, usual].map((run) => `/bookings?reference=${referenceOf(run, 3)}`),
    '/mappings': ['/mappings', `/mappings?provider=${provider}&hotel=${providerHotelId}`],
    '/providers': ['/providers'],
    '/providers/:name': [`/providers/${provider}`],
    '/audit': ['/audit', '/audit?action=case-opened'],
    '/notifications': ['/notifications'],
    '/openapi.json': ['/openapi.json'],
    '/days/:day/run': [`/days/${today}/run`],
    '/days/:day/replay': [
      `/days/${special.manyBatches}/replay`,
      `/days/${special.longLists}/replay?which=late`,
    ],
    '/days/:day/cancel': [`/days/${usual.day}/cancel`],
    '/days/:day/look': [`/days/${special.longLists}/look`],
    '/replay': [manyDays, `${manyDays}&which=late`],
    '/mappings/sync': ['/mappings/sync'],
    '/notifications/test': ['/notifications/test'],
    '/cases/change': [`/cases/change?do=assign&${manyCases}`],
    '/cases/:id/resolve': [`/cases/${size.cases}/resolve`],
  };
}

function required<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new RangeError('the ledger has too few days');
  return value;
}
