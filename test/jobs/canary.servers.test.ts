import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type DayFolder, prepareDay } from '../support/day-folder.js';
import { expectReport } from '../support/expectations.js';
import { type FileDayOptions, prepareFileDay } from '../support/file-day.js';
import type { FileCall } from '../support/file-service.js';
import { createGate } from '../support/gate.js';
import { type ReceivedHotel, refusal, type StandInHandler, success } from '../support/http-stand-in.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { runArguments } from '../support/reviewed-day.js';
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
  async function prepareNight(options: Omit<FileDayOptions, 'onPost'> = {}, handler?: StandInHandler) {
    const prepared = await prepareFileDay(server(), {
      bookings,
      ...options,
      settings: { canary, ...options.settings },
      ...(handler && { onPost: handler }),
    });
    const posted = () => prepared.standIn.accepted().map(({ BookingReferenceId }) => BookingReferenceId);
    return { ...prepared, posted };
  }

  const withOneAffected = async (call: FileCall) => {
    await call.writeResult({ affected: ['BR-7'] });
    return success;
  };

  it('is posted exactly once, and stands neither in the file nor in the result nor in a count', async () => {
    const { folder, service, posted } = await prepareNight({ onCall: withOneAffected });
    const result = await folder.runDay();
    const counted = { ...counts, affected: 1, unanswered: 0 };
    expectReport(result, { exitCode: 0, state: 'succeeded', counts: counted });
    const { runId, ...report } = JSON.parse(result.stdout) as Reported;
    const reference = `CANARY-${runId}`;
    expect(report).toMatchObject({ file: { rows: 30 }, canary: { reference, state: 'waiting' } });
    expect(posted()).toEqual([reference]);
    const sent = service.calls.map(({ file }) => String(file));
    expect(sent.map((file) => file.trimEnd().split('\n'))).toEqual([expect.objectContaining({ length: 31 })]);
    expect(await readArchive(folder, runId)).toEqual({
      '20112026.csv': sent[0],
      '20112026_Result.csv': expect.not.stringContaining('CANARY'),
      'manifest.json': expect.not.stringMatching(/canary/i),
    });
    expect((await folder.run(['affected', day])).stdout).not.toContain('CANARY');
    expect(await folder.run(['verify', day])).toMatchObject({ exitCode: 0 });
    expect((await folder.run(['providers'])).stdout).not.toMatch(/^\s*X\s/m);

    expect((await folder.runDay()).exitCode, 'the day is done').toBe(0);
    expect(posted()).toEqual([reference]);
  });

  it('is named by an e-mail with its exact reference, not by its pair or the reference of another night', async () => {
    const { folder, posted } = await prepareNight();
    await folder.runDay();
    const [reference] = posted();
    const stateAfter = async (name: string, text: string) => {
      await writeFile(join(folder.path, name), text);
      await folder.run(['verdicts', 'import', name]);
      const { json } = await folder.run(['status', day, '--json']);
      const { runs } = json as { runs: readonly Reported[] };
      return runs.map((run) => run.canary?.state);
    };
    const pair = 'ProviderName: X\nProviderHotelId: 1\nServiceId: 1\n';
    expect(await stateAfter('pair.txt', pair)).toEqual(['waiting']);
    expect(await stateAfter('other.txt', 'Incorrect: CANARY-20261119-k3f9xq7d\n')).toEqual(['waiting']);
    expect(await stateAfter('longer.txt', `Incorrect: ${reference}9\n`)).toEqual(['waiting']);
    expect(await stateAfter('own.txt', `Incorrect: ${reference}\n`)).toEqual(['named']);
    expect((await folder.run(['cases', '--json'])).json).toEqual({ cases: [] });
  });

  it('is resumed after a kill between its intent and its outcome, and sent again as it was', async () => {
    const killing = createGate();
    const received: ReceivedHotel[] = [];
    const prepared = await prepareNight({ onCall: withOneAffected }, async (request) => {
      const hotels = await request.readHotels();
      received.push(...hotels);
      if (received.length > 1) return success;
      const { runId } = await ledger.run();
      const sender = await prepared.folder.processes.performerOf({ runId, step: 'canary', attempt: 1 });
      sender.kill('SIGKILL');
      void sender.ended.then(killing.open);
      return { kind: 'hang' };
    });
    const { folder, service, posted } = prepared;
    const ledger = folder.watchLedger();
    folder.start(runArguments);
    await killing.passed;
    const result = await folder.processes.dayEnded(() => folder.runDay());
    expect(result.exitCode).toBe(0);
    const { runId } = JSON.parse(result.stdout) as Reported;
    expect(JSON.parse(result.stdout)).toMatchObject({
      ...{ state: 'succeeded', counts: { ...counts, affected: 1 }, canary: { state: 'waiting' } },
    });
    expect(received).toEqual([received[0], received[0]]);
    expect(posted()).toEqual([`CANARY-${runId}`]);
    expect(service.calls).toHaveLength(1);
  });

  it('that the service refuses keeps nothing of the file back', async () => {
    const { folder, service, posted } = await prepareNight({ onCall: withOneAffected }, refusesCanary);
    const result = await folder.runDay();
    const counted = { ...counts, affected: 1, unanswered: 0 };
    expectReport(result, { exitCode: 0, state: 'succeeded', counts: counted });
    expect(JSON.parse(result.stdout)).toMatchObject({ canary: { state: 'not-taken', code: 'code-2009' } });
    expect(service.calls).toHaveLength(1);
    expect(posted()).toEqual([]);
  });

  it('is sent although the service refuses the file, and not again by the run that resumes it', async () => {
    let refuses = true;
    const { folder, posted } = await prepareNight({
      onCall: (call) => (refuses ? refusal(2009) : withOneAffected(call)),
    });
    const failed = await folder.runDay();
    expect(failed.exitCode).toBe(1);
    expect(JSON.parse(failed.stdout)).toMatchObject({ state: 'failed', canary: { state: 'waiting' } });
    refuses = false;
    expect(JSON.parse((await folder.runDay()).stdout)).toMatchObject({ state: 'succeeded' });
    expect(posted()).toHaveLength(1);
  });

  it('is not sent by late bookings of a good day, nor by a dry run', async () => {
    const { folder, posted } = await prepareNight();
    await folder.run(['run', '--day', day, '--dry-run']);
    expect(posted()).toEqual([]);
    await folder.runDay();
    await folder.writeBookings(toCsv(makeBookings(32)));
    const late = await folder.run(['replay', day, '--late', '--json']);
    expect(late.exitCode).toBe(0);
    expect(JSON.parse(late.stdout)).not.toHaveProperty('canary');
    expect(posted()).toHaveLength(1);
  });

  it('is sent where no booking can be in the file', async () => {
    const { folder, service, posted } = await prepareNight({
      bookings: toCsv(makeBookings(3).map((booking) => ({ ...booking, ProviderHotelId: '' }))),
      settings: { file: { maxPostedShare: 1 } },
    });
    const result = await folder.runDay();
    expectReport(result, { exitCode: 0, state: 'succeeded', counts: { delivered: 3, posted: 3 } });
    expect(service.calls).toEqual([]);
    expect(posted()).toHaveLength(4);
  });
});

/** The files in the archive of a run, by name. */
async function readArchive({ path }: DayFolder, runId: string): Promise<Record<string, string>> {
  const folder = join(path, 'data', 'archive', day, runId);
  const names = (await readdir(folder)).filter((name) => !name.startsWith('.'));
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  return Object.fromEntries(names.map((name, index) => [name, texts[index] ?? '']));
}
