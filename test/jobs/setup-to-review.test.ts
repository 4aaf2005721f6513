import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { day } from '../support/day-folder.js';
import {
  createFolder,
  makeDayIn,
  reviewPath,
  runIn,
  type SandboxCommand,
  startSandboxCommand,
  sumTold,
} from '../support/sandbox-command.js';

const path = 'exports/bookings-{day}.csv';

interface DoctorReport {
  readonly ok: boolean;
  readonly findings: readonly {
    readonly part: string;
    readonly verdict: string;
    readonly message: string;
  }[];
}

/** A folder with an export of the sandbox’s bookings, and a configuration from `init`. */
async function setUp(...options: readonly string[]) {
  const folder = await createFolder();
  await mkdir(join(folder, 'exports'));
  const made = await makeDayIn(join(folder, 'exports'));
  const sandbox = await startSandboxCommand(join(folder, 'sandbox'), '--result-delay', '0');
  const { service, sftp } = sandbox.addresses;
  const server = [
    '--sftp-host',
    sftp.host,
    '--sftp-port',
    String(sftp.port),
    '--sftp-username',
    sftp.username,
  ];
  const initOptions = [
    '--base-url',
    service.baseUrl,
    ...(options.includes('file') ? server : []),
    ...options,
  ];
  const init = await runIn(folder, 'init', '--yes', '--path', path, ...initOptions, '--json');
  expect(init.exitCode).toBe(0);
  const { next } = init.json as { next: readonly string[] };
  await rewrite(join(folder, '.env'), {
    'HOTEL_REVIEW_API_KEY=change-me': `HOTEL_REVIEW_API_KEY=${service.apiKey}`,
    'HOTEL_REVIEW_ACCOUNT_ID=change-me': `HOTEL_REVIEW_ACCOUNT_ID=${service.accountId}`,
    ...(options.includes('file') && {
      'HOTEL_REVIEW_SFTP_PASSWORD=change-me': `HOTEL_REVIEW_SFTP_PASSWORD=${sftp.password}`,
    }),
  });
  return { folder, made, sandbox, next };
}

/** Replaces texts that occur exactly once. */
async function rewrite(file: string, changes: Readonly<Record<string, string>>): Promise<void> {
  let text = await readFile(file, 'utf8');
  for (const [from, to] of Object.entries(changes)) {
    expect(text.split(from)).toHaveLength(2);
    text = text.replace(from, to);
  }
  await writeFile(file, text);
}

async function examine(folder: string) {
  const { exitCode, json } = await runIn(folder, 'doctor', '--day', day, '--json');
  const { ok, findings } = json as DoctorReport;
  expect(ok).toBe(exitCode === 0);
  return { exitCode, findings, notOk: findings.filter(({ verdict }) => verdict !== 'ok') };
}

/** What the sandbox had accepted when it was stopped. */
async function acceptedBy(sandbox: SandboxCommand): Promise<ReturnType<typeof sumTold>> {
  sandbox.kill('SIGINT');
  await sandbox.ended;
  return sumTold(sandbox);
}

const dryRun = ['run', '--day', day, '--dry-run'];

describe('A newcomer goes from an export to a review', () => {
  it('by body, with init, .env, doctor and a dry run', async () => {
    const { folder, made, sandbox, next } = await setUp();
    expect(next).toEqual([
      'put HOTEL_REVIEW_API_KEY and HOTEL_REVIEW_ACCOUNT_ID into .env',
      'hotel-review doctor',
      `hotel-review run --day ${day} --dry-run`,
    ]);
    const examined = await examine(folder);
    expect(examined.exitCode).toBe(0);
    // Nobody is told anything yet: no deadline, no mailbox for verdicts, no channel.
    expect(examined.notOk).toMatchObject([
      { part: 'clock', verdict: 'warning' },
      { part: 'verdicts', verdict: 'warning' },
      { part: 'notify', verdict: 'warning' },
    ]);
    const tried = await runIn(folder, ...dryRun, '--json');
    expect(tried).toMatchObject({
      exitCode: 0,
      json: { counts: { accepted: made.bookings, rejected: made.rejected } },
    });
    expect(sandbox.events.filter((line) => line.includes(', 0 bookings accepted'))).toEqual(sandbox.events);

    const { exitCode, report } = await runIn(folder, 'run', '--day', day, '--json');
    expect(exitCode).toBe(0);
    expect(report.counts).toMatchObject({ read: made.records, delivered: made.bookings, refused: 0 });
    expect(await acceptedBy(sandbox)).toEqual({ accepted: made.bookings, wrong: made.wrongMappings });
  });

  it('by file, with the host key that doctor shows', async () => {
    const { folder, made, sandbox, next } = await setUp('--delivery', 'file');
    expect(next[1]).toBe('fill in what hotel-review.yaml marks as PLACEHOLDER');
    const before = await examine(folder);
    expect(before).toMatchObject({ exitCode: 2 });
    expect(
      new Set(before.notOk.filter(({ verdict }) => verdict === 'wrong').map(({ part }) => part)),
    ).toEqual(new Set(['configuration', 'sftp']));
    const shown = before.notOk.find(({ part }) => part === 'sftp')?.message ?? '';
    const [fingerprint = ''] = /SHA256:[\w+/]{43}/.exec(shown) ?? [];
    expect(fingerprint).toBe(sandbox.addresses.sftp.fingerprint);
    await rewrite(join(folder, 'hotel-review.yaml'), { [`SHA256:${'A'.repeat(43)}`]: fingerprint });
    // The result says the verdicts, but nobody is told anything yet: no deadline, no channel.
    expect(await examine(folder)).toMatchObject({
      exitCode: 0,
      notOk: [
        { part: 'clock', verdict: 'warning' },
        { part: 'notify', verdict: 'warning' },
      ],
    });
    expect((await runIn(folder, ...dryRun)).exitCode).toBe(0);
    expect(await findReviewed(sandbox)).toBeUndefined();

    const { exitCode, report } = await runIn(folder, 'run', '--day', day, '--json');
    expect(exitCode).toBe(0);
    const affected = made.wrongMappings - made.wrongUnfitForFile;
    expect(report.counts).toMatchObject({ delivered: made.bookings, refused: 0, affected });
    expect(await findReviewed(sandbox)).toBe(made.bookings - made.unfitForFile);
    expect((await acceptedBy(sandbox)).accepted).toBe(made.bookings);
  });
});

/** How many bookings the file on the SFTP server contains; undefined when there is none. */
async function findReviewed({ addresses }: SandboxCommand): Promise<number | undefined> {
  const file = await readFile(join(addresses.sftp.root, reviewPath)).catch(() => undefined);
  return file && parse(file, { columns: true }).length;
}
