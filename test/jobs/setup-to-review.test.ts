import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { day } from '../support/day-folder.js';
import { createFolder, makeDayIn, runIn, startSandboxCommand, sumTold } from '../support/sandbox-command.js';

interface DoctorReport {
  readonly ok: boolean;
  readonly findings: readonly { readonly part: string; readonly verdict: string }[];
}

it('A newcomer goes from an export to a review, with init, .env, doctor and a dry run', async () => {
  const folder = await createFolder();
  await mkdir(join(folder, 'exports'));
  const made = await makeDayIn(join(folder, 'exports'));
  const sandbox = await startSandboxCommand(join(folder, 'sandbox'), '--result-delay', '0');
  const { service } = sandbox.addresses;

  const init = ['init', `exports/bookings-${day}.csv`, '--timezone', 'UTC', '--delivery', 'body'];
  expect(await runIn(folder, ...init, '--json')).toMatchObject({
    exitCode: 0,
    json: {
      next: [
        'put HOTEL_REVIEW_API_KEY and HOTEL_REVIEW_ACCOUNT_ID into .env',
        'fill in what hotel-review.yaml marks as PLACEHOLDER: baseUrl',
        'hotel-review doctor',
        `hotel-review run --day ${day} --dry-run`,
      ],
    },
  });
  const env = await readFile(join(folder, '.env'), 'utf8');
  const filled = env
    .replace('HOTEL_REVIEW_API_KEY=change-me', `HOTEL_REVIEW_API_KEY=${service.apiKey}`)
    .replace('HOTEL_REVIEW_ACCOUNT_ID=change-me', `HOTEL_REVIEW_ACCOUNT_ID=${service.accountId}`);
  expect(filled).not.toContain('change-me');
  await writeFile(join(folder, '.env'), filled);
  const configuration = join(folder, 'hotel-review.yaml');
  const text = await readFile(configuration, 'utf8');
  await writeFile(configuration, text.replace(/^( +baseUrl: ).*/m, `$1${service.baseUrl}`));

  const { exitCode, json } = await runIn(folder, 'doctor', '--day', day, '--json');
  const { ok, findings } = json as DoctorReport;
  expect([exitCode, ok]).toEqual([0, true]);
  // Nobody is told anything yet: no mailbox for verdicts, no channel.
  const notOk = findings.filter(({ verdict }) => verdict !== 'ok');
  expect(notOk.map(({ part, verdict }) => `${verdict} ${part}`)).toEqual([
    'warning notify',
    'warning verdicts',
  ]);
  const run = ['run', '--day', day, '--json'];
  expect(await runIn(folder, ...run, '--dry-run')).toMatchObject({
    exitCode: 0,
    json: { counts: { accepted: made.bookings, rejected: made.rejected } },
  });
  expect(sumTold(sandbox)).toEqual({ accepted: 0, wrong: 0 });

  const reviewed = await runIn(folder, ...run);
  expect(reviewed.exitCode).toBe(0);
  const counts = { read: made.records, delivered: made.bookings, refused: 0 };
  expect(reviewed.report.counts).toMatchObject(counts);
  sandbox.kill('SIGINT');
  await sandbox.ended;
  expect(sumTold(sandbox)).toEqual({ accepted: made.bookings, wrong: made.wrongMappings });
});
