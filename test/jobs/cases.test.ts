import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { day, prepareDay, type Settings } from '../support/day-folder.js';
import { engine } from '../support/engine.js';
import { useFastClock } from '../support/fast-clock.js';
import { bookingsHeader, makeBookings, toCsv } from '../support/made-bookings.js';
import { fillCopyOf, mappingOf } from '../support/mapping-truth.js';
import { runArguments } from '../support/reviewed-day.js';

const seenAt = Date.UTC(2026, 10, 1);
const keep: Settings = { source: { keep: { Price: 'precio' } } };
const otherMaster = 5;

/** Stays in the future until 2031, and plausible; the first check-in is that of the last booking. */
function makeStays(count: number) {
  return makeBookings(count).map((booking, index) => ({
    ...booking,
    CheckInDate: `2031-01-${String(28 - (index % 27)).padStart(2, '0')}`,
    CheckOutDate: '2031-02-09',
  }));
}

/** The copy has another master hotel for these, so that each is a suspect with a case. */
const asOther = (bookings: ReturnType<typeof makeStays>) => ({
  rows: bookings.map((booking) => ({ ...mappingOf(booking), serviceId: otherMaster })),
  at: seenAt,
});

interface Listed {
  readonly id: number;
  readonly providerHotelId: string;
  readonly kept?: Readonly<Record<string, string>>;
}

describe('the cases that a run opens', () => {
  it('are counted at its end, with the command that lists them, and a run that opens none says nothing', async () => {
    const bookings = makeStays(6);
    const { folder } = await prepareDay({ bookings: toCsv(bookings) });
    await fillCopyOf(folder, asOther(bookings.slice(0, 2)));
    const { stdout, stderr } = await folder.run(['run', '--day', day, '--log-level', 'info']);
    expect(stderr).toContain('"cases":2,"bookings":2,"list":"hotel-review cases"');
    expect(stdout).toMatch(/2 cases opened, with 2 bookings: .*hotel-review.* cases/);
    const again = await folder.run(['replay', day, '--reason', 'again', '--log-level', 'info']);
    expect(again.stdout + again.stderr).not.toMatch(/cases? opened/);
  });

  it('are named where show lists their bookings', async () => {
    const bookings = makeStays(4);
    const { folder } = await prepareDay({ bookings: toCsv(bookings) });
    await fillCopyOf(folder, asOther(bookings.slice(0, 1)));
    await folder.runDay();
    expect(await folder.run(['show', 'BR-1', '--json'])).toMatchObject({
      json: {
        bookings: [
          { verdict: 'unknown', case: { id: 1, state: 'open', origins: ['suspect'], bookingState: 'open' } },
        ],
      },
    });
    await folder.run(['case', '1', 'report']);
    await folder.run(['case', '1', 'resolve', 'BR-1', '--as', 'confirmed']);
    const { stdout } = await folder.run(['show', 'BR-1']);
    expect(stdout).toContain('case 1: its mapping is reported, this booking resolved\n');
    expect((await folder.run(['show', 'BR-2', '--json'])).stdout).not.toContain('"case"');
  });

  it('of an e-mail that names a hotel without references make its bookings incorrect, and others not', async () => {
    const bookings = makeStays(4).map((booking) => ({
      ...booking,
      ProviderHotelId: 'H-1',
      ProviderName: 'Expedia',
    }));
    const [first, second, ...others] = bookings.map((booking, index) => ({
      ...booking,
      ServiceId: index < 2 ? 7 : 8,
    }));
    const { folder } = await prepareDay({
      bookings: toCsv([first, second, ...others] as typeof bookings),
    });
    await folder.runDay();
    const mail = 'ProviderName,ProviderHotelId,ServiceId,IsCorrectMapping\nExpedia,H-1,7,false\n';
    await writeFile(join(folder.path, 'mail.csv'), mail);
    const imported = await folder.run(['verdicts', 'import', 'mail.csv', '--json']);
    expect(imported).toMatchObject({ exitCode: 0, json: { emails: [{ outcome: 'named' }] } });
    const shown = await folder.run(['show', 'BR-2', '--json']);
    expect(shown.json).toMatchObject({
      bookings: [
        {
          verdict: 'incorrect',
          mappingNamedByEmailAt: expect.any(String),
          case: { id: 1, origins: ['email'], bookingState: 'open' },
        },
      ],
    });
    expect((await folder.run(['show', 'BR-2'])).stdout).toMatch(
      /incorrect \(its hotel was named by e-mail of /,
    );
    expect(await folder.run(['show', 'BR-3', '--json'])).toMatchObject({
      json: { bookings: [{ verdict: 'unknown', verdictReason: 'by-email' }] },
    });
    const { json } = await folder.run(['providers', '--from', day, '--to', day, '--json']);
    expect(json).toMatchObject({ providers: [{ sent: 4, known: 0, byEmail: 4, namedByEmail: 2 }] });
  });
});

describe('a guest in house', () => {
  const stays = [
    // Still to arrive, in house, and over.
    { ServiceId: 1, ProviderHotelId: 'H-1', CheckInDate: '2026-11-22', CheckOutDate: '2026-11-25' },
    { ServiceId: 2, ProviderHotelId: 'H-2', CheckInDate: '2026-11-19', CheckOutDate: '2026-11-24' },
    { ServiceId: 3, ProviderHotelId: 'H-3', CheckInDate: '2026-11-10', CheckOutDate: '2026-11-20' },
  ];
  const bookings = makeBookings(3).map((booking, index) => ({ ...booking, ...stays[index] }));

  it('has a case, comes first, and is reported as left if nobody resolves the booking', async () => {
    const clock = useFastClock();
    clock.set('2026-11-21T06:00:00Z');
    const { folder } = await prepareDay({ bookings: toCsv(bookings) });
    await fillCopyOf(folder, asOther(bookings));
    await folder.runDay();
    const first = { inHouse: 1, inHouseUntil: '2026-11-24', firstCheckIn: '2026-11-19', leftBookings: 0 };
    expect((await folder.run(['cases', '--json'])).json).toMatchObject({
      cases: [
        { providerHotelId: 'H-2', openBookings: 1, ...first, copyServiceId: otherMaster, copy: 'mapped' },
        { providerHotelId: 'H-1', openBookings: 1, inHouse: 0, inHouseUntil: null },
      ],
    });
    expect((await folder.run(['cases'])).stdout).toContain('in house since 2026-11-19, until 2026-11-24');
    expect((await folder.run(['suspects', day, '--json'])).json).toMatchObject({
      suspects: [{ ServiceId: 2 }, { ServiceId: 1 }, { ServiceId: 3 }],
    });
    expect((await folder.run(['cases', '--left', '--json'])).json).toEqual({ cases: [] });

    clock.set('2026-11-25T06:00:00Z');
    expect((await folder.run(['cases', '--json'])).json).toMatchObject({
      cases: [{ providerHotelId: 'H-1' }],
    });
    const { json } = await folder.run(['cases', '--left', '--json']);
    const { cases } = json as { cases: readonly Listed[] };
    expect(cases).toMatchObject([{ providerHotelId: 'H-2', openBookings: 0, leftBookings: 1 }]);
    const id = String(cases[0]?.id);
    expect((await folder.run(['case', id, '--json'])).json).toMatchObject({
      bookingList: [{ state: 'left' }],
    });
    const report = (await folder.run(['report', day])).stdout;
    expect(report).toContain('never resolved before the guests left:');
    await folder.run(['case', id, 'resolve', 'BR-2', '--as', 'rebooked']);
    expect((await folder.run(['cases', '--left', '--json'])).json).toEqual({ cases: [] });
  });
});

describe('the kept columns', () => {
  it('are in cases and case, as text, JSON and CSV', async () => {
    const bookings = makeStays(4).map((booking, index) =>
      index === 3
        ? { ...booking, ServiceId: 100_003, ProviderName: 'Expedia', ProviderHotelId: '003A' }
        : booking,
    );
    const prices = ['20', '3', '9', '100'];
    const rows = bookings.map((booking, index) => [...Object.values(booking), prices[index]].join(','));
    const { folder } = await prepareDay({
      bookings: `${[`${bookingsHeader},precio`, ...rows].join('\n')}\n`,
      settings: keep,
    });
    await fillCopyOf(folder, asOther(bookings));
    await folder.runDay();
    const { json } = await folder.run(['cases', '--json']);
    const { cases: nearest } = json as { cases: readonly Listed[] };
    // The third hotel has two bookings: the one that checks in next is shown.
    expect(nearest.map(({ kept }) => kept?.Price)).toEqual(['100', '3', '20']);
    const { stdout } = await folder.run(['cases', '--csv', 'cases.csv']);
    expect(stdout).toMatch(/found by +Price\n/);
    const cells = parse(await readFile(join(folder.path, 'cases.csv')), { columns: true, bom: true });
    expect(cells).toMatchObject([{ Price: '100' }, { Price: '3' }, { Price: '20' }]);

    const id = String(nearest[0]?.id);
    const shown = await folder.run(['case', id, '--json']);
    expect(shown.json).toMatchObject({
      bookingList: [
        { reference: 'BR-4', kept: { Price: '100' } },
        { reference: 'BR-3', kept: { Price: '9' } },
      ],
    });
    expect((await folder.run(['case', id])).stdout).toMatch(/named +Price +note\n/);
  });
});

// Which process updates the cases of a run that several perform is left to chance.
describe.runIf(engine.name === 'embedded')('a run that is killed', () => {
  it.each([
    ['before the first of its cases', (cases: number) => cases === 0],
    ['in the middle of them', (cases: number) => cases > 0],
  ])('%s leaves the others to the next command, which opens each once', async (_, isDue) => {
    const bookings = makeStays(2_000);
    const { folder } = await prepareDay({ bookings: toCsv(bookings) });
    await fillCopyOf(folder, asOther(bookings));
    const ledger = folder.watchLedger();
    const command = folder.start(runArguments);
    const { run, release } = await ledger.holdWhen(
      ({ state, cases }) => state === 'succeeded' && isDue(cases),
    );
    command.kill('SIGKILL');
    expect((await command.ended).signal).toBe('SIGKILL');
    expect(run.cases).toBeLessThan(bookings.length);
    await release();

    const again = await folder.run(['run', '--day', day]);
    expect(again).toMatchObject({ exitCode: 0 });
    const missing = new Intl.NumberFormat('en').format(bookings.length - run.cases);
    expect(again.stdout).toContain(`${missing} cases opened`);
    const { json } = await folder.run(['cases', '--json']);
    const { cases } = json as { cases: readonly (Listed & { readonly bookings: number })[] };
    expect(new Set(cases.map(({ providerHotelId }) => providerHotelId)).size).toBe(bookings.length);
    expect(cases).toHaveLength(bookings.length);
    expect(cases.every((item) => item.bookings === 1)).toBe(true);
  });
});
