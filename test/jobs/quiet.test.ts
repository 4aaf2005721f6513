import { describe, expect, it } from 'vitest';
import { day, prepareDay } from '../support/day-folder.js';
import { type StandInAnswer, success } from '../support/http-stand-in.js';
import { csvOf } from '../support/made-bookings.js';

const quiet = ['run', '--quiet', day];
const silence = { exitCode: 0, stdout: '', stderr: '' };

async function prepare({ bookings = csvOf(20), settings = {} } = {}) {
  const service: { answer: StandInAnswer } = { answer: success };
  const { folder, standIn } = await prepareDay({ bookings, settings }, () => service.answer);
  return { folder, standIn, service };
}

describe('run --quiet', () => {
  it('prints nothing on a good night, nor when it finds the day done, but the object of --json', async () => {
    const { folder, standIn } = await prepare();
    expect(await folder.run(quiet)).toMatchObject(silence);
    expect(standIn.requests.length).toBeGreaterThan(0);
    expect(await folder.run(quiet)).toMatchObject(silence);
    const { exitCode, report, stderr } = await folder.run([...quiet, '--json']);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(report).toMatchObject({ day, isGood: true });
  });

  it('prints the report of a night that failed', async () => {
    const { folder, service } = await prepare();
    service.answer = { kind: 'text', status: 403, body: '' };
    const { exitCode, stdout } = await folder.run(quiet);
    expect({ exitCode, stdout }).toEqual({
      exitCode: 1,
      stdout: expect.stringMatching(/failed \(fatal\)[\s\S]*delivered +0\n[\s\S]*Once the cause is fixed/),
    });
  });

  it('prints why today could not be sent, and nothing of a day that the next night completes', async () => {
    const { folder } = await prepare();
    const { exitCode, stdout } = await folder.run(['run', '--quiet', 'today']);
    expect({ exitCode, stdout }).toEqual({
      exitCode: 1,
      stdout: expect.stringContaining('there is no file'),
    });
    const today = /^\d{4}-\d\d-\d\d/.exec(stdout)?.[0] ?? '';
    await folder.writeBookings(csvOf(5), today);
    expect(await folder.run(['run', '--quiet', today])).toMatchObject({
      exitCode: 0,
      stdout: '',
      stderr: '',
    });
  });

  it('prints every problem of the configuration, whole', async () => {
    const { folder } = await prepare();
    await folder.configure({ delivery: 'pigeon', recordDays: 0, notify: [{ kind: 'slack' }] });
    const { exitCode, stderr } = await folder.run(quiet);
    expect(exitCode).toBe(2);
    for (const path of ['delivery', 'recordDays', 'notify[0].url']) expect(stderr).toContain(`\n  ${path}: `);
  });

  it('says nothing while another process works on the day, whose exit code tells how it went', async () => {
    const { folder, standIn, service } = await prepare();
    service.answer = { kind: 'hang' };
    folder.start(['run', day]);
    await standIn.received(1);
    expect(await folder.run(quiet)).toEqual(expect.objectContaining({ exitCode: 4, stdout: '', stderr: '' }));
  });
});

describe('days without a run', () => {
  it('are named by each run, with the command that sends them', async () => {
    const { folder } = await prepare();
    for (const other of ['2026-11-16', '2026-11-18', '2026-11-19'])
      await folder.writeBookings(csvOf(20), other);
    expect(await folder.run(['run', '--quiet', '2026-11-16'])).toMatchObject(silence);
    const told = await folder.run(quiet);
    const command = 'replay 2026-11-17 --to 2026-11-19 --missing --reason "no run"';
    expect(told).toMatchObject({ exitCode: 0, stdout: '' });
    expect(told.stderr).toBe(
      'warning: without a run, of the 14 days up to 2026-11-20: 2026-11-17, 2026-11-18, 2026-11-19; to send them:\n' +
        `  hotel-review ${command}\n`,
    );
    await folder.writeBookings(csvOf(20), '2026-11-17');
    const words = [...(command.split(' --reason ')[0]?.split(' ') ?? []), '--reason', 'no run'];
    expect(await folder.run(words)).toMatchObject({ exitCode: 0 });
    expect(await folder.run(quiet)).toMatchObject(silence);
  });

  it('are not named where the deadline excepts them', async () => {
    const { folder } = await prepare();
    await folder.configure({ deadline: { at: '06:00', exceptions: { '2026-11-19': 'none' } } });
    await folder.writeBookings(csvOf(20), '2026-11-18');
    expect(await folder.run(['run', '--quiet', '2026-11-18'])).toMatchObject(silence);
    expect(await folder.run(quiet)).toMatchObject(silence);
  });
});
