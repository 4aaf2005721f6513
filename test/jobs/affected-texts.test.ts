import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { renderVerdictHead, renderVerdictNotes, type VerdictListing } from '../../jobs/affected.js';
import { renderBookings, type ShownBookings } from '../../jobs/booking-list.js';
import { bookingToJson, listBookingColumns } from '../../src/cases/shown-bookings.js';
import type { Run } from '../../src/ledger/run.js';
import { unknownPair } from '../../src/mappings/hotels/compare-hotels.js';
import type { ListedBooking } from '../../src/review/verdicts/listing.js';
import { writeCsvFile } from '../../src/text/output-files.js';
import { outcomeOf } from '../review/outcome/some-outcome.js';
import { someRun } from '../review/some-run.js';
import { command } from '../support/plain-command.js';
import { surroundings } from '../text/surroundings.js';

const day = '2026-11-20';
const verdicts = { affected: 1, unanswered: 0, unclear: 0, malformed: 0 };
const reviewed = someRun({ delivery: 'file', file: { verdicts }, counts: { affected: 1, unanswered: 0 } });
const noVerdicts = { affected: null, unanswered: null };

function listed(fields: Record<string, unknown>, more: Partial<ListedBooking> = {}): ListedBooking {
  return { day, runId: 'r1', fields, copyServiceId: null, copy: 'unmapped', hotels: unknownPair, ...more };
}

/** The text of `affected`, without a line for the file. */
function render(
  runs: readonly Run[],
  given: Partial<VerdictListing & Pick<ShownBookings, 'bookings'>> = {},
): string {
  const { bookings = [], ...listed } = given;
  const whole: VerdictListing = {
    ...{ days: [outcomeOf(runs)], isRange: false, lists: 'affected', count: bookings.length },
    ...listed,
  };
  const table = {
    ...{ count: whole.count, bookings, isRange: whole.isRange, areDoubted: whole.lists === 'affected' },
    ...{ hasHotels: false, keptLabels: [], today: day },
  };
  const lines = [
    renderVerdictHead(whole),
    ...renderBookings(table, command),
    ...renderVerdictNotes(whole, command),
  ];
  return `${lines.join('\n')}\n`;
}

const advice = [
  ['for names and distances of hotels, load the content file of an export:'],
  ['hotel-review hotels load FILE'],
];
const cells = (text: string) => text.split('\n').map((line) => line.trim().split(/ {2,}/));

describe('the affected bookings of a day', () => {
  it('say below the row that the guest is in house', () => {
    const stay = { CheckInDate: '2026-11-19', CheckOutDate: '2026-11-24' };
    const text = render([reviewed], { bookings: [listed({ BookingReferenceId: 'BR-1', ...stay })] });
    expect(text).toContain('\n    guest:  in house since 2026-11-19, until 2026-11-24\n');
  });

  it('without a run are unknown', () => {
    expect(render([])).toBe('There is no run of 2026-11-20.\n');
  });

  it('whose result has not arrived are unknown', () => {
    const run = someRun({
      state: 'awaiting-result',
      delivery: 'file',
      file: { rows: 978 },
      counts: { affected: null, unanswered: 978, posted: 12 },
    });
    expect(
      render([run]),
    ).toBe(`No result of 2026-11-20 has arrived yet: run 20261120-k3f9xq7d is awaiting-result.
978 bookings of the file without a verdict; to list them: hotel-review affected 2026-11-20 --unanswered
12 went by body: their verdicts come by e-mail only.
`);
  });

  it('by body are reported by the service only', () => {
    expect(render([someRun({ delivery: 'body', counts: noVerdicts })])).toBe(
      '2026-11-20 went by body: its verdicts come by e-mail only (run 20261120-k3f9xq7d, succeeded).\n',
    );
  });

  it('without bookings are none', () => {
    const counts = { ...noVerdicts, read: 0, accepted: 0, delivered: 0 };
    expect(render([someRun({ counts })])).toBe(
      '2026-11-20: nothing was sent for review, as there were no bookings (run 20261120-k3f9xq7d).\n',
    );
  });

  it('of a run that sent nothing say so, and what would go by body', () => {
    const counts = { ...noVerdicts, accepted: 5, delivered: 0, pending: 5, posted: 2 };
    const failed = someRun({ state: 'failed', delivery: 'file', file: { rows: 3 }, counts });
    const words =
      '2026-11-20: nothing was sent for review: run 20261120-k3f9xq7d failed before the service took a booking.';
    expect(render([failed])).toBe(`${words}\n`);
    expect(render([someRun({ state: 'failed', counts })])).toBe(`${words}\n`);
    const refused = someRun({ state: 'failed', counts: { ...counts, pending: 0, refused: 5 } });
    expect(render([refused])).toBe(
      '2026-11-20: the service took no booking, and refused 5 (run 20261120-k3f9xq7d, failed).\n',
    );
    expect(render([someRun({ state: 'delivering', counts })])).toContain('2026-11-20 goes by body');
  });

  it('are none where the result marks none', () => {
    expect(
      render([reviewed]),
    ).toBe(`2026-11-20: the result marks no booking as affected (run 20261120-k3f9xq7d).
Every booking of the file has a verdict.
None went by body.
`);
  });

  it('are never simply none if some have no verdict', () => {
    const run = someRun({ ...reviewed, counts: { affected: 0, unanswered: 3, posted: 1 } });
    expect(render([run])).toBe(
      `2026-11-20: the result marks no booking as affected, but some have no verdict (run 20261120-k3f9xq7d).
3 bookings of the file without a verdict; to list them: hotel-review affected 2026-11-20 --unanswered
1 went by body: their verdicts come by e-mail only.
`,
    );
  });

  it('say where a newer run has no result yet', () => {
    const newer = someRun({ id: 'newer', state: 'delivering', delivery: 'file', counts: noVerdicts });
    expect(render([newer, reviewed])).toContain(
      'This is the latest result. Run newer is newer (by file, delivering).\n',
    );
  });

  it('are a table with the hotel of the local copy, without the guest', () => {
    const bookings = [
      listed(
        {
          BookingReferenceId: 'BR-1042',
          ServiceId: 7,
          BookingClientName: 'Ana Lovelace',
          ProviderName: 'hotelbeds',
          ProviderHotelId: '00123',
          CheckInDate: '2026-11-20',
          CheckOutDate: '2026-11-23',
        },
        { copyServiceId: 9 },
      ),
      listed({ BookingReferenceId: 'BR-2', ServiceId: 8, CheckInDate: '2026-11-21' }),
    ];
    expect(cells(render([reviewed], { bookings }))).toEqual([
      ['2026-11-20: affected bookings: 2 (run 20261120-k3f9xq7d)'],
      ['booking', 'check-in', 'check-out', 'provider', 'hotel id', 'booked', 'copy'],
      ['BR-1042', '2026-11-20', '2026-11-23', 'hotelbeds', '00123', '7', '9'],
      ['BR-2', '2026-11-21', '-', '-', '-', '8', '-'],
      ['booked, copy: ServiceId of the booking, and in the local copy of the mappings'],
      ...advice,
      ['Every booking of the file has a verdict.'],
      ['None went by body.'],
      [''],
    ]);
  });

  it('are at most two hundred, with a hint on how to get the others', () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, number) => listed({ BookingReferenceId: `BR-${number}` }));
    const all = render([reviewed], { bookings: many(200) });
    expect(all).toContain('  BR-199');
    expect(all).not.toContain('more');
    const text = render([reviewed], { bookings: many(1_300) });
    expect(text).toContain('2026-11-20: affected bookings: 1,300');
    expect(text).toContain('  BR-199');
    expect(text).not.toContain('BR-200');
    expect(text).toContain('\n  … and 1,100 more; --csv FILE lists all\n');
  });

  it('say to which check-ins they are limited', () => {
    expect(render([reviewed], { checkInBefore: '2026-12-01' })).toContain(
      'the result marks no booking with check-in before 2026-12-01 as affected',
    );
  });
});

describe('the bookings without a verdict', () => {
  it('are listed with the reason', () => {
    const run = someRun({ ...reviewed, counts: { affected: 2, unanswered: 1, posted: 0 } });
    const bookings = [listed({ BookingReferenceId: 'BR-1' }, { verdictReason: 'not-in-result' })];
    const text = render([run], { lists: 'unanswered', bookings });
    expect(text).toContain('2026-11-20: bookings without a verdict: 1 (run 20261120-k3f9xq7d)\n');
    expect(cells(text)[2]?.at(-1)).toBe('not-in-result');
  });

  it('can only be counted if they are not recorded, and the text says so', () => {
    const run = someRun({ ...reviewed, counts: { affected: 0, unanswered: 3, posted: 0 } });
    expect(render([run], { lists: 'unanswered' })).toContain(
      "\n3 of them can't be listed: which they are is not recorded.",
    );
  });
});

describe('the affected bookings of a range', () => {
  it('are one table with their day, and what is known of each day', () => {
    const days = [
      outcomeOf([reviewed], {}, '2026-11-18'),
      outcomeOf([someRun({ delivery: 'body', counts: noVerdicts })], {}, '2026-11-19'),
      outcomeOf([], {}, '2026-11-20'),
    ];
    const bookings = [
      listed({ BookingReferenceId: 'BR-1', CheckInDate: '2026-12-01' }, { day: '2026-11-18' }),
    ];
    const text = render([], { days, isRange: true, bookings });
    expect(cells(text)).toEqual([
      ['2026-11-18 to 2026-11-20: affected bookings: 1'],
      ['booking', 'day', 'check-in', 'check-out', 'provider', 'hotel id', 'booked', 'copy'],
      ['BR-1', '2026-11-18', '2026-12-01', '-', '-', '-', '-', '-'],
      ['booked, copy: ServiceId of the booking, and in the local copy of the mappings'],
      ...advice,
      ['by day:'],
      ['day', 'affected', 'no verdict', 'by e-mail only', 'run'],
      ['2026-11-18', '1', '0', '0', '20261120-k3f9xq7d'],
      ['2026-11-19', 'by e-mail', '-', 'all', '20261120-k3f9xq7d'],
      ['2026-11-20', '-', '-', '0', 'no run'],
      [''],
    ]);
  });
});

describe('the case of an affected booking', () => {
  it('is named below it', () => {
    const fields = { BookingReferenceId: 'BR-1' };
    const bookings = [
      listed(fields, { case: { id: 17, state: 'reported' } }),
      listed({ BookingReferenceId: 'BR-2' }),
    ];
    const lines = render([reviewed], { bookings }).split('\n');
    const first = lines.findIndex((line) => line.includes('BR-1'));
    expect(lines[first + 1]).toBe('    case:   17, its mapping is reported');
    expect(lines[first + 2]).toContain('BR-2');
    expect(lines[first + 3]).not.toContain('case');
    expect(bookingToJson(bookings[0] as ListedBooking, false)).toMatchObject({
      ...{ caseId: 17, caseState: 'reported' },
    });
  });
});

const columnsOfDay = listBookingColumns(false, []);

describe('the columns of --csv', () => {
  it('are those of every list, with the day in a range', () => {
    expect(listBookingColumns(true, [])).toEqual(['day', ...columnsOfDay]);
    const record = bookingToJson(listed({ ServiceId: 7 }, { verdictReason: 'unclear' }), true);
    expect(record).toEqual({
      ...{
        day,
        ServiceId: 7,
        copyServiceId: null,
        copy: 'unmapped',
        caseId: null,
        caseState: null,
        runId: 'r1',
        verdictReason: 'unclear',
      },
      ...{ bookedHotel: null, copyHotel: null, distanceKm: null, hoursToCheckIn: null },
    });
  });
});

const header =
  '\uFEFFServiceId,BookingReferenceId,ProviderName,ProviderHotelId,CheckInDate,CheckOutDate,copyServiceId,copy,caseId,caseState,' +
  'runId,verdictReason,reason,field,movedAt,code,step,' +
  'bookedHotelName,bookedHotelCity,bookedHotelCountry,bookedHotelPhones,bookedHotelLocalTime,' +
  'copyHotelName,copyHotelCity,copyHotelCountry,copyHotelPhones,copyHotelLocalTime,distanceKm,hoursToCheckIn\n';
const noHotels = ','.repeat(22);
const booking = {
  ServiceId: 7,
  BookingReferenceId: 'BR-1, "two"',
  BookingClientName: 'Ana Lovelace',
  ProviderName: 'hotelbeds',
  ProviderHotelId: '00123',
  CheckInDate: '2026-11-20',
  CheckOutDate: '2026-11-23',
};

describe('the CSV of affected bookings', () => {
  it('contains all that was added, in order, without guests’ names, readable only by its owner', async () => {
    const path = join(await createFolder(), 'wrong.csv');
    await writeCsvFile(columnsOfDay, { csv: path, force: false }, surroundings(), async (add) => {
      await add([
        { ...booking, copyServiceId: 9 },
        { ...booking, BookingReferenceId: 'BR-2' },
      ]);
      await add([{ ServiceId: 8 }]);
    });
    expect(await readFile(path, 'utf8')).toBe(
      `${header}7,"BR-1, ""two""",hotelbeds,00123,2026-11-20,2026-11-23,9${noHotels}\n` +
        `7,BR-2,hotelbeds,00123,2026-11-20,2026-11-23,${noHotels}\n8,,,,,,${noHotels}\n`,
    );
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('is only a header where no booking is affected', async () => {
    const path = join(await createFolder(), 'wrong.csv');
    await writeCsvFile(columnsOfDay, { csv: path, force: false }, surroundings(), async () => {});
    expect(await readFile(path, 'utf8')).toBe(header);
  });

  it.each([';', '\t'])('separates its cells as requested: %j', async (delimiter) => {
    const path = join(await createFolder(), 'wrong.csv');
    const target = { csv: path, delimiter, force: false };
    await writeCsvFile(['ProviderName', 'ServiceId'], target, surroundings(), (add) =>
      add([{ ServiceId: 7, ProviderName: 'a;b\tc,d' }]),
    );
    expect(await readFile(path, 'utf8')).toBe(
      `\uFEFFProviderName${delimiter}ServiceId\n"a;b\tc,d"${delimiter}7\n`,
    );
  });
});

async function createFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hotel-review-test-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}
