import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { day } from '../support/day-folder.js';
import { readEmails } from '../support/email.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { startProgram } from '../support/program.js';
import {
  callSandbox,
  callService,
  command,
  createFolder,
  putReviewFile,
  renderReviewFile,
  reviewPath,
  runIn,
} from '../support/sandbox-command.js';

const guest = 'Canaria Zwitscherfink';
/** With unknown hotels, so that there are e-mails about all of them. */
const bookings = makeBookings(60).map((booking) => ({ ...booking, BookingClientName: guest }));

function expectSilence(written: string): void {
  for (const word of guest.split(' ')) expect(written).not.toContain(word);
  expect(written).not.toMatch(/^ {4}at /m);
}

it('The sandbox prints no guest name, while its e-mails contain them', async () => {
  const folder = await createFolder();
  const sandbox = await callSandbox(folder, '--result-delay', '0', '--fault', 'lost-answer@1');
  await writeFile(join(folder, `bookings-${day}.csv`), toCsv(bookings));
  for (const delivery of ['body', 'file'])
    await runIn(folder, 'replay', day, '--delivery', delivery, '--config', 'sandbox.yaml');
  sandbox.kill('SIGINT');
  const { stdout, stderr } = await sandbox.ended;
  expectSilence(stdout + stderr);

  const emails = readEmails(join(folder, 'outbox'));
  expect(emails.map(({ about }) => about)).toContain(reviewPath);
  expect(emails).toHaveLength(3);
  for (const { path, references } of emails) {
    expect(references).toHaveLength(60);
    expect(await readFile(path, 'utf8')).toContain('Canaria');
    expect(stderr).toContain(path);
  }
});

it('The sandbox prints no guest name when it refuses calls and files that contain them', async () => {
  const folder = await createFolder();
  const sandbox = await callSandbox(folder);
  const { addresses } = sandbox;
  const broken = [
    [{ ...bookings[0], CheckInDate: guest }],
    [{ ...bookings[0], [guest]: 1 }],
    [{ ...bookings[0], ServiceId: guest }],
  ];
  for (const hotels of broken)
    expect(await (await callService(addresses, hotels)).json()).toMatchObject({ StatusCode: 2009 });
  const brokenFiles = [
    renderReviewFile(`${guest},${guest}`),
    renderReviewFile(`"${guest}`),
    renderReviewFile().replace('BookingClientName', guest),
    renderReviewFile(guest).replace('20112026', guest),
  ];
  for (const file of brokenFiles) {
    await putReviewFile(addresses, file);
    expect(await (await callService(addresses)).json()).toMatchObject({ Status: false });
  }
  sandbox.kill('SIGINT');
  const { stdout, stderr } = await sandbox.ended;
  expectSilence(stdout + stderr);
  expect(stderr.match(/call \d by-(?:body|file): 200 2009/g)).toHaveLength(7);
});

it('Without --json the sandbox prints its addresses and then its events to standard output, without guest names', async () => {
  const folder = await createFolder();
  const env = { PATH: process.env.PATH };
  const args = [command, 'sandbox', '--folder', folder];
  const program = startProgram(process.execPath, args, { cwd: folder, env });
  await program.until(({ stdout }) => stdout.includes('sandbox.yaml\n'));
  await writeFile(join(folder, `bookings-${day}.csv`), toCsv(bookings));
  const { exitCode } = await runIn(folder, 'run', '--day', day, '--config', 'sandbox.yaml');
  expect(exitCode).toBe(0);
  program.kill('SIGTERM');
  const { stdout, stderr } = await program.ended;
  expect(stdout).toMatch(/^The sandbox is running; Ctrl-C stops it\.\n/);
  expect(stdout).toMatch(
    /call 1 by-body: 200 2000, 60 bookings accepted, 60 wrongly mapped\n\S+ {2}e-mail about 60 of call 1: /,
  );
  expect(stdout).toMatch(/stopped after 1 calls[\s\S]*60 of them wrongly mapped\. Its files are kept in /);
  expect(stderr).toBe('\nSIGTERM: stopping; send the signal again to stop at once\n');
  expectSilence(stdout);
});
