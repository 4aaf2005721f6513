import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startCommand } from '../support/command.js';
import { readEmails } from '../support/email.js';
import type { ProgramResult } from '../support/program.js';
import { isListening } from '../support/sandbox-command.js';
import { createFirstRunPlace, type FirstRunPlace, readPorts } from './started-first-run.js';

let place: FirstRunPlace;
let result: ProgramResult;
/** Of that result. */
let folder: string;
beforeAll(async () => {
  place = createFirstRunPlace();
  result = await place.start().ended;
  [folder = ''] = place.folders();
});
afterAll(() => place.remove());

describe('npm start', () => {
  const outbox = () => join(folder, 'outbox', 'new');
  const matchesOf = (expression: RegExp) =>
    [...result.stdout.matchAll(expression)].map(([, text = '']) => text);
  const days = () => matchesOf(/^(\S+): [\d,]+ bookings sent for review/gm);
  const fileDay = () => days()[1] ?? '';
  /** VerifyMappings/112026/20112026, for the day delivered by file. */
  const reviewedFile = () => {
    const [year, month, monthDay] = fileDay().split('-');
    return `VerifyMappings/${month}${year}/${monthDay}${month}${year}`;
  };
  const readRecords = (path: string): Record<string, string>[] =>
    parse(readFileSync(join(folder, 'sftp', path)), { columns: true });

  /** Runs a printed command without npx. */
  const run = (command: string) => {
    const cwd = mkdtempSync(join(tmpdir(), 'first-run-test-'));
    onTestFinished(() => rmSync(cwd, { recursive: true }));
    return startCommand(command.split(' '), { cwd, env: { PATH: process.env.PATH } }).ended;
  };

  it('reviews the day before yesterday by body and yesterday by file, and exits with 0', () => {
    expect(result.exitCode).toBe(0);
    const [first = '', second = ''] = days();
    expect(days()).toHaveLength(2);
    expect(Date.parse(second) - Date.parse(first)).toBe(86_400_000);
    expect(result.stderr).toMatch(
      new RegExp(
        `^${first}: starting run \\S+ by body\n[\\s\\S]*^${second}: starting run \\S+ by file\n`,
        'm',
      ),
    );
  });

  it('says what became of the records of each day', async () => {
    const words = result.stdout.replaceAll(/\s+/g, ' ');
    for (const day of days()) {
      const { json } = await run(`status ${day} --json --config ${join(folder, 'sandbox.yaml')}`);
      const [{ counts }] = (json as { runs: [{ counts: Record<string, number> }] }).runs;
      expect(counts).toMatchObject({ read: 10_000, delivered: counts.accepted, refused: 0, pending: 0 });
      expect(words).toContain(
        `${day}: ${counts.delivered?.toLocaleString('en')} bookings sent for review. ${counts.rejected} records can't be sent and were rejected; ${counts.duplicates} came twice.`,
      );
    }
  });

  it('counts the affected bookings of the result, and shows the first to check in with both hotels', async () => {
    const wrong = readRecords(`${reviewedFile()}_Result.csv`).filter(
      ({ IsCorrectMapping }) => IsCorrectMapping === 'False',
    );
    expect(wrong.length).toBeGreaterThan(0);
    const words = result.stdout.replaceAll(/\s+/g, ' ');
    expect(words).toContain(
      `The result says that ${wrong.length} bookings would bring the guest to another hotel.`,
    );
    const [, reference = ''] = /The most urgent one: booking (\S+), check-in /.exec(words) ?? [];
    expect(wrong.map(({ BookingReferenceId }) => BookingReferenceId)).toContain(reference);

    const { json } = await run(`cases --json --config ${join(folder, 'sandbox.yaml')}`);
    const { cases } = json as { cases: readonly NextCase[] };
    const next = cases
      .toSorted((one, other) => one.firstCheckIn.localeCompare(other.firstCheckIn))
      .find(({ origins }) => origins.includes('affected'));
    expect(next?.distanceKm).toBeGreaterThan(0);
    expect(words).toContain(` booked: ${next?.bookedHotel.name}, `);
    expect(words).toMatch(new RegExp(` copy: ${next?.copyHotel.name}, .+? [\\d.,]+ k?m away `));
    expect(words).toContain(`the booking's ServiceId, ${next?.serviceId}.`);
    expect(words).toContain(`npx --no hotel-review case ${next?.id} `);
  });

  it('names an e-mail with verdicts of the delivery by body', () => {
    const [path = ''] = matchesOf(/verdicts import (\S+)/g);
    const email = readEmails(outbox()).find((one) => one.path === path);
    expect(email?.about).not.toBe(`${reviewedFile()}.csv`);
    expect(email?.references.length).toBeGreaterThan(0);
  });

  it('prints commands that work afterwards', async () => {
    // Others have a placeholder.
    const commands = matchesOf(/^ {2}npx --no hotel-review ((?!.* FILE ).+ --config .+)$/gm);
    expect(commands.map((command) => command.split(' ')[0])).toEqual([
      'case',
      'affected',
      'verdicts',
      'status',
      'verify',
    ]);
    const ended = await Promise.all(commands.map(run));
    expect(ended.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0, 0]);
    const [, affected, verdicts, status, verify] = ended;
    expect(verdicts?.stdout).toMatch(/: names \d+ bookings?$/m);
    expect(affected?.stdout).toContain('affected bookings:');
    for (const day of days()) expect(status?.stdout).toContain(day);
    expect(verify?.stdout).toMatch(/^ {2}ok {6}/m);
    expect(verify?.stdout).not.toContain('DIFFERS');
  });

  it('leaves nothing running', async () => {
    expect(readPorts(folder)).toHaveLength(2);
    for (const port of readPorts(folder)) expect(await isListening(port)).toBe(false);
  });

  it('writes 60 lines at most, and no escape codes when not at a terminal', () => {
    expect(result.stdout + result.stderr).not.toContain('\x1b');
    expect(result.stdout + result.stderr).not.toContain('\r');
    expect((result.stdout + result.stderr).split('\n').length).toBeLessThanOrEqual(60);
  });
});

describe('npm start -- --stay', () => {
  it('keeps the sandbox and the desk over both days until Ctrl-C, which stops both and exits with 0', async () => {
    const changed = statSync(join(folder, 'data/ledger.db')).mtimeMs;
    const program = place.start('--stay');
    onTestFinished(() => program.kill('SIGKILL'));
    const address = /^Serving on (http:\/\/127\.0\.0\.1:\d+)/m;
    await program.until(({ stdout }) => address.test(stdout));
    const [, url = ''] = address.exec(program.stdout) ?? [];
    const [own = ''] = place.folders().filter((path) => path !== folder);
    const days = [...program.stdout.matchAll(/^(\S+): [\d,]+ bookings sent for review/gm)].map(
      ([, day = '']) => day,
    );
    expect(days).toHaveLength(2);
    const [, password = ''] = /; the password of each is (\S+)$/m.exec(program.stdout) ?? [];
    const signedIn = await fetch(`${url}/sign-in`, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin: url },
      body: new URLSearchParams({ name: 'operator', password }),
    });
    expect(signedIn.status).toBe(303);
    const [cookie = ''] = signedIn.headers.getSetCookie().map((line) => line.split(';')[0] ?? '');
    for (const day of days)
      expect((await fetch(`${url}/days/${day}`, { headers: { cookie } })).status).toBe(200);
    expect((await fetch(`${url}/days/${days[0]}`)).status).toBe(401);
    for (const port of readPorts(own)) expect(await isListening(port)).toBe(true);

    program.kill('SIGINT');
    expect((await program.ended).exitCode).toBe(0);
    for (const port of [...readPorts(own), Number(new URL(url).port)])
      expect(await isListening(port)).toBe(false);

    // Each start has a folder of its own, which only its owner may read, and leaves that of the other alone.
    expect(place.folders().sort()).toEqual([folder, own].sort());
    for (const path of [folder, own]) expect(statSync(path).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'data/ledger.db')).mtimeMs).toBe(changed);
  });

  it('refuses other arguments', async () => {
    const before = place.folders();
    const { exitCode, stderr } = await place.start('--sty').ended;
    expect([exitCode, stderr]).toEqual([2, 'npm start takes no argument but --stay: npm start -- --stay\n']);
    expect(place.folders()).toEqual(before);
  });
});

interface NextCase {
  readonly origins: readonly string[];
  readonly id: number;
  readonly serviceId: number;
  readonly firstCheckIn: string;
  readonly distanceKm: number | null;
  readonly bookedHotel: { readonly name: string };
  readonly copyHotel: { readonly name: string };
}
