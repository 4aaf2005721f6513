import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startCommand } from '../support/command.js';
import { readEmails } from '../support/email.js';
import type { ProgramResult } from '../support/program.js';
import { isAvailable, needs, runAtTerminal, type TerminalSession } from '../support/pseudo-terminal.js';
import { isListening } from '../support/sandbox-command.js';
import {
  createFirstRunPlace,
  type FirstRunPlace,
  readPorts,
  startArguments,
  startFolder,
} from './started-first-run.js';

const escapeCode = String.fromCharCode(27);

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
  const days = () => matchesOf(/^(\S+): run \S+ succeeded in/gm);
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

  it('shows a closing table for each day, with all bookings delivered', () => {
    const counts = (name: string) =>
      matchesOf(new RegExp(`^  ${name} +([\\d,]+)$`, 'gm')).map((text) => Number(text.replaceAll(',', '')));
    expect(counts('read')).toEqual([10_000, 10_000]);
    expect(counts('delivered')).toEqual(counts('accepted'));
    for (const name of ['refused', 'pending', 'repeated']) expect(counts(name)).toEqual([0, 0]);
    expect(result.stdout.match(/^rejected, by reason:$/gm)).toHaveLength(2);
    expect(counts('rows')).toEqual([readRecords(`${reviewedFile()}.csv`).length]);
    expect(matchesOf(/^ {2}file +(.+)$/gm)).toEqual([`${reviewedFile()}.csv`]);
    const [archived = ''] = matchesOf(/^ {2}archived to {2}(.+)$/gm);
    expect(existsSync(join(archived, 'manifest.json'))).toBe(true);
  });

  it('lists exactly the affected bookings of the result and of the e-mail about the file', async () => {
    const [email, ...others] = readEmails(outbox()).filter(({ about }) => about === `${reviewedFile()}.csv`);
    expect(others).toEqual([]);
    const wrong = readRecords(`${reviewedFile()}_Result.csv`).filter(
      ({ IsCorrectMapping }) => IsCorrectMapping === 'False',
    );
    const marked = wrong.map(({ BookingReferenceId }) => BookingReferenceId);
    expect(marked.length).toBeGreaterThan(0);
    expect(email?.references).toEqual(marked);

    const nearestFirst = wrong
      .sort((a, b) => checkInOf(a).localeCompare(checkInOf(b)))
      .map(({ BookingReferenceId }) => BookingReferenceId);
    const [, listed = ''] = result.stdout.split(': affected bookings: ');
    const [table = ''] = listed.split('\nThe most urgent case');
    expect([...table.matchAll(/^ {2}(BR-\S+) /gm)].map(([, reference]) => reference)).toEqual(nearestFirst);
    expect(result.stdout).toContain(`The e-mail about them:\n  ${email?.path}\n`);
    const { json } = await run(`affected ${fileDay()} --json --config ${join(folder, 'sandbox.yaml')}`);
    const { affected } = json as { affected: { BookingReferenceId: string }[] };
    expect(affected.map(({ BookingReferenceId }) => BookingReferenceId)).toEqual(nearestFirst);
  });

  it('names an e-mail about the delivery by body, and counts the others', () => {
    // The one about the export is about no review.
    const emails = readEmails(outbox()).filter(
      ({ about }) => about !== '' && about !== `${reviewedFile()}.csv`,
    );
    const [path = ''] = matchesOf(/by e-mail only:\n {2}(.+)$/gm);
    expect(emails.map((email) => email.path)).toContain(path);
    expect(result.stdout).toContain(`\n  and ${emails.length - 1} more in that folder\n`);
    expect(emails.every(({ references }) => references.length > 0)).toBe(true);
  });

  it('ends with the most urgent case: the hotels, their distance, and the bookings', async () => {
    const { json } = await run(`cases --json --config ${join(folder, 'sandbox.yaml')}`);
    const { cases } = json as { cases: readonly NextCase[] };
    const [next] = cases.toSorted((one, other) => one.firstCheckIn.localeCompare(other.firstCheckIn));
    expect(next?.distanceKm).toBeGreaterThan(0);
    const [, shown = ''] = result.stdout.split(
      '\nThe most urgent case, of a guest in house or who checks in next:\n',
    );
    expect(shown).toMatch(new RegExp(`^case ${next?.id}: .+, booked as ServiceId ${next?.serviceId}\n`));
    expect(shown).toContain(`    booked: ${next?.bookedHotel.name}, `);
    expect(shown).toContain(`    copy:   ${next?.copyHotel.name}, `);
    expect(shown.replaceAll(/\s+/g, ' ')).toMatch(
      / (?:\d+ (?:h|days?) to check-in|the check-in day (?:has begun|is over)) copy: .+? [\d.,]+ k?m away bookings: /,
    );
    expect(shown).toMatch(new RegExp(`^ {2}BR-\\S+ +${next?.firstCheckIn} .+ open[, ]`, 'm'));
  });

  it('prints commands that work afterwards', async () => {
    // Others have a placeholder.
    const commands = matchesOf(/^ {2}npx hotel-review ((?!.* FILE ).+ --config .+)$/gm);
    expect(commands.map((command) => command.split(' ')[0])).toEqual([
      'affected',
      'verdicts',
      'cases',
      'show',
      'status',
      'verify',
    ]);
    const ended = await Promise.all(commands.map(run));
    expect(ended.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0, 0, 0]);
    const [affected, verdicts, , show, status, verify] = ended;
    expect(verdicts?.stdout).toMatch(/: names \d+ bookings?$/m);
    expect(affected?.stdout).toContain('affected bookings:');
    expect(show?.stdout).toContain('succeeded');
    for (const day of days()) expect(status?.stdout).toContain(day);
    expect(verify?.stdout).toMatch(/^ {2}ok {6}/m);
    expect(verify?.stdout).not.toContain('DIFFERS');
  });

  it('leaves nothing running', async () => {
    expect(readPorts(folder)).toHaveLength(2);
    for (const port of readPorts(folder)) expect(await isListening(port)).toBe(false);
  });

  it('writes few lines and no escape codes when not at a terminal', () => {
    expect(result.stdout + result.stderr).not.toContain(escapeCode);
    expect(result.stdout + result.stderr).not.toContain('\r');
    expect(result.stderr.split('\n').length).toBeLessThan(20);
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
    const days = [...program.stdout.matchAll(/^(\S+): run \S+ succeeded in/gm)].map(([, day = '']) => day);
    expect(days).toHaveLength(2);
    const [, password = ''] = /; the password of each is (\S+)$/m.exec(program.stdout) ?? [];
    const signedIn = await fetch(`${url}/sign-in`, {
      method: 'POST',
      redirect: 'manual',
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

describe.skipIf(!isAvailable)(`npm start at a terminal of 80 columns (needs ${needs})`, () => {
  let session: TerminalSession;
  beforeAll(async () => {
    const env = { ...place.env, TERM: 'xterm-256color', NO_COLOR: '1' };
    session = await runAtTerminal(startArguments, [], { cwd: startFolder, env });
  });

  it('shows progress bars, without colours under NO_COLOR', () => {
    expect(session.exitCode).toBe(0);
    expect(session.screen).toMatch(/deliver .+ \d+% {2}/);
    expect(session.screen).not.toMatch(new RegExp(`${escapeCode}\\[[\\d;:]*m`));
  });

  it('keeps lines within 80 columns, except for paths', () => {
    // Progress bars are redrawn, each time from the first column.
    const lines = session.screen
      .split(new RegExp(`[\r\n]|${escapeCode}\\[\\d*G`))
      .map((line) => line.replaceAll(new RegExp(`${escapeCode}\\[[?\\d;]*[A-Za-z]`, 'g'), ''));
    expect(lines.length).toBeGreaterThan(50);
    const namesFolder = (line: string) => place.folders().some((path) => line.includes(path));
    const tooWide = lines.filter((line) => [...line].length > 80 && !namesFolder(line));
    expect(tooWide).toEqual([]);
  });
});

interface NextCase {
  readonly id: number;
  readonly serviceId: number;
  readonly firstCheckIn: string;
  readonly distanceKm: number | null;
  readonly bookedHotel: { readonly name: string };
  readonly copyHotel: { readonly name: string };
}

/** The check-in of a line of the result, as YYYYMMDD. */
function checkInOf({ CheckInDate = '' }: Record<string, string>): string {
  return CheckInDate.replace(/(\d{2})(\d{2})(\d{4})/, '$3$2$1');
}
