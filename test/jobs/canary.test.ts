import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { prepareDay } from '../support/day-folder.js';
import { expectReport } from '../support/expectations.js';
import { prepareFileDay } from '../support/file-day.js';
import { parseRecords } from '../support/file-service.js';
import { refusal, type StandInHandler, success } from '../support/http-stand-in.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { openSsh } from '../support/sftp-programs.js';
import { useSftpServer } from '../support/use-servers.js';

const server = useSftpServer(openSsh);
const day = '2026-11-20';
const canary = { serviceId: 1, providerName: 'X', providerHotelId: '1' };
const bookings = toCsv(makeBookings(30));
const counts = { accepted: 30, delivered: 30, refused: 0, pending: 0, posted: 0, repeated: 0 };

interface Reported {
  readonly runId: string;
  readonly counts: object;
  readonly canary?: Readonly<Record<string, string | null>>;
}

const isCanary = (hotel: object) => Object.values(hotel).some((value) => String(value).startsWith('CANARY-'));

async function prepareBodyDay(settings: object = {}, handler?: StandInHandler) {
  const prepared = await prepareDay({ bookings, settings: { canary, ...settings } }, handler);
  const sent = () => prepared.standIn.accepted().filter(isCanary);
  return { ...prepared, sent };
}

const refusesCanary: StandInHandler = async (request) =>
  (await request.readHotels()).some(isCanary) ? refusal(2009) : success;

describe('by body, the canary', () => {
  it('goes in a request of its own, and counts as no booking', async () => {
    const { folder, sent } = await prepareBodyDay();
    const result = await folder.runDay();
    expectReport(result, { exitCode: 0, state: 'succeeded', counts });
    const { runId, canary: reported } = JSON.parse(result.stdout) as Reported;
    const reference = `CANARY-${runId}`;
    expect(reported).toMatchObject({ reference, state: 'waiting', namedAt: null });
    expect(sent()).toEqual([
      {
        ...{ ServiceId: 1, BookingReferenceId: reference, BookingClientName: 'Canary Test' },
        ...{ ProviderName: 'X', ProviderHotelId: '1' },
        ...{ CheckInDate: expect.any(String), CheckOutDate: expect.any(String) },
      },
    ]);
    await writeFile(join(folder.path, 'mail.txt'), `Incorrect: ${reference}\n`);
    const imported = await folder.run(['verdicts', 'import', 'mail.txt', '--json']);
    expect(imported.json).toMatchObject({ emails: [{ bookings: [], canaries: [{ reference, day }] }] });
    const { json } = await folder.run(['status', day, '--json']);
    expect(json).toMatchObject({ runs: [{ counts, canary: { state: 'named', namedBy: 'email' } }] });
    expect((await folder.run(['cases', '--json'])).json).toEqual({ cases: [] });
    const shown = await folder.run(['show', reference]);
    expect(shown.stdout).toContain(`${reference}: the canary of run ${runId} of ${day}, no booking`);
    expect((await folder.run(['guest', 'export', reference, '--out', 'guest'])).exitCode).not.toBe(0);
    expect((await folder.run(['evidence', reference, '--out', 'proof.zip'])).exitCode).toBe(1);
  });

  it('that the service refuses is given up: the run succeeds, with nothing refused', async () => {
    const { folder, sent } = await prepareBodyDay({}, refusesCanary);
    const result = await folder.runDay();
    expectReport(result, { exitCode: 0, state: 'succeeded', counts });
    expect(JSON.parse(result.stdout)).toMatchObject({ canary: { state: 'not-taken', code: 'code-2009' } });
    expect(sent()).toEqual([]);
  });

  it('is sent again by a replay, and not by a run that only tops its day up, nor by a dry run', async () => {
    const { folder, sent } = await prepareBodyDay();
    await folder.run(['run', '--day', day, '--dry-run']);
    expect(sent()).toHaveLength(0);
    await folder.runDay();
    await folder.writeBookings(toCsv(makeBookings(32)));
    const late = await folder.run(['replay', day, '--late', '--json']);
    expect(JSON.parse(late.stdout)).toMatchObject({ counts: { delivered: 2 } });
    expect(JSON.parse(late.stdout)).not.toHaveProperty('canary');
    expect(sent()).toHaveLength(1);
    expect((await folder.run(['replay', day])).exitCode).toBe(0);
    expect(new Set(sent().map((hotel) => JSON.stringify(hotel))).size).toBe(2);
  });

  it('is not sent by late bookings of a day that was good without one', async () => {
    const { folder, sent } = await prepareBodyDay({ canary: undefined });
    await folder.runDay();
    await folder.configure({ canary });
    await folder.writeBookings(toCsv(makeBookings(32)));
    const late = await folder.run(['replay', day, '--late', '--json']);
    expect(JSON.parse(late.stdout)).toMatchObject({ counts: { delivered: 2 } });
    expect(JSON.parse(late.stdout)).not.toHaveProperty('canary');
    expect(sent()).toEqual([]);
  });

  it('is sent by the run that sends what an abandoned run has left', async () => {
    const { folder, sent } = await prepareBodyDay({ canary: undefined, retry: { tries: 1 } }, (_, number) =>
      number === 1 ? { kind: 'text', status: 500, body: '' } : success,
    );
    expect((await folder.runDay()).exitCode).toBe(1);
    await folder.configure({ canary });
    const late = await folder.run(['replay', day, '--late', '--reason', 'left over', '--json']);
    expect(JSON.parse(late.stdout)).toMatchObject({ topsUp: true, canary: { state: 'waiting' } });
    expect(sent()).toHaveLength(1);
  });

  it('that nothing names in time is reported, and doctor warns', async () => {
    const { folder } = await prepareBodyDay({ canary: { ...canary, withinHours: 1e-9 } });
    const result = await folder.run(['run', '--day', day]);
    expect(result.exitCode).toBe(0);
    expect(result.stdout).toContain('canary: NOT NAMED within');
    expect((await folder.run(['status', day])).stdout).toContain('canary: NOT NAMED within');
    // It was reported by the run itself.
    expect((await folder.run(['run', '--day', day])).stdout.match(/NOT NAMED/g)).toHaveLength(1);
    const { stdout } = await folder.run(['doctor', '--json']);
    expect(stdout).toContain(`nothing named the canary of ${day}`);
  });
});

describe('by file, the canary', () => {
  it('is the last row of the file, and named by the result that calls it incorrect', async () => {
    const { folder, service } = await prepareFileDay(server(), {
      bookings,
      settings: { canary },
      async onCall(call) {
        const reference = parseRecords(call.file).at(-1)?.BookingReferenceId ?? '';
        await call.writeResult({ affected: ['BR-7', reference] });
        return success;
      },
    });
    const result = await folder.runDay();
    expectReport(result, {
      exitCode: 0,
      state: 'succeeded',
      counts: { ...counts, affected: 1, unanswered: 0 },
    });
    const report = JSON.parse(result.stdout) as Reported;
    expect(report).toMatchObject({ file: { rows: 30 }, canary: { state: 'named', namedBy: 'result' } });
    const sent = service.calls[0]?.file?.toString().trimEnd().split('\n') ?? [];
    expect(sent).toHaveLength(32);
    expect(sent.at(-1)).toContain(`1,CANARY-${report.runId},Canary Test,X,1,`);
    const affected = await folder.run(['affected', day]);
    expect(affected.stdout).toContain('BR-7');
    expect(affected.stdout).not.toContain('CANARY');
    expect(await folder.run(['verify', day])).toMatchObject({ exitCode: 0 });
    expect((await folder.run(['providers'])).stdout).not.toMatch(/^\s*X\s/m);
    expect((await folder.run(['cases'])).stdout).not.toContain('CANARY');
  });

  it('that the result leaves out delays the run until the result no longer changes, and is not named', async () => {
    const { folder } = await prepareFileDay(server(), {
      bookings,
      settings: { canary },
      async onCall(call) {
        await call.writeResult({ records: parseRecords(call.file).filter((record) => !isCanary(record)) });
        return success;
      },
    });
    const result = await folder.runDay();
    expectReport(result, {
      exitCode: 0,
      state: 'succeeded',
      counts: { ...counts, affected: 0, unanswered: 0 },
    });
    expect(JSON.parse(result.stdout)).toMatchObject({ canary: { state: 'waiting' } });
  });

  it('goes by body where no booking can be in the file', async () => {
    const posted: object[] = [];
    const { folder, service } = await prepareFileDay(server(), {
      bookings: toCsv(makeBookings(3).map((booking) => ({ ...booking, ProviderHotelId: '' }))),
      settings: { canary, file: { maxPostedShare: 1 } },
      async onPost(request) {
        posted.push(...(await request.readHotels()));
        return success;
      },
    });
    const result = await folder.runDay();
    expectReport(result, { exitCode: 0, state: 'succeeded', counts: { delivered: 3, posted: 3 } });
    expect(service.calls).toEqual([]);
    expect(posted.filter(isCanary)).toHaveLength(1);
    expect(posted).toHaveLength(4);
  });
});
