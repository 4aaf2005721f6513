import { randomBytes } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { print } from '../../src/base/foreign-text.js';
import { formatCount, formatCountOf, wrapText } from '../../src/base/format.js';
import { UsageError } from '../../src/base/safe-error.js';
import { quoteForShell, type WriteCommand } from '../../src/base/shell.js';
import { type BusinessDay, businessDayAt } from '../../src/booking/business-day.js';
import { findCases, type ListedCase } from '../../src/cases/shown-cases.js';
import { type Config, loadConfig } from '../../src/config/load.js';
import { renderPair } from '../../src/mappings/hotels/shown-hotels.js';
import type { DeliveryKind } from '../../src/rules/run.js';
import { writeDayFile } from '../../src/sandbox/bookings/write-day.js';
import { account } from '../../src/sandbox/common/account.js';
import { writeSandboxConfiguration } from '../../src/sandbox/configuration.js';
import { startSandbox } from '../../src/sandbox/sandbox.js';
import { createWorld } from '../../src/sandbox/world/world.js';
import { hashPassword } from '../../src/storage/access/passwords.js';
import { roles } from '../../src/storage/access/roles.js';
import { createUsers, openUsersFile } from '../../src/storage/access/users-file.js';
import { type App, withApp } from '../app.js';
import { clock } from '../clock.js';
import { fetchOneExport, requestOneExport } from '../commands/export.js';
import { syncOnce } from '../commands/mappings.js';
import { exitCode } from '../exit-code.js';
import { describeFailure } from '../failure.js';
import { runReview } from '../main-job.js';
import { type CommandIo, runAsProcess } from '../process.js';
import { composeSource } from '../sources.js';
import { createReports, createTerminal, type Terminal } from '../terminal.js';

/**
 * `npm start`: reviews two made-up days with the sandbox, one by body and one by file. Needs no setup and leaves nothing
 * running, except with `--stay`: then the sandbox and the desk stay until Ctrl-C.
 */
const bookings = 10_000;
const wrongShare = 0.0008;

await runAsProcess(async ({ script: _, ...io }) => {
  try {
    return await reviewTwoDays(io, readStay(process.argv.slice(2)));
  } catch (error) {
    return reportFailure(error, io);
  }
});

function readStay(words: readonly string[]): boolean {
  try {
    const options = { stay: { type: 'boolean', default: false } } as const;
    return parseArgs({ args: [...words], options }).values.stay;
  } catch {
    throw new UsageError('npm start takes no argument but --stay: npm start -- --stay');
  }
}

async function reviewTwoDays(io: CommandIo, stay: boolean): Promise<number> {
  const world = createWorld();
  const folder = await mkdtemp(join(io.temporaryFolder, 'review-'));
  const sandbox = await startSandbox({ folder, clock, world, resultDelayMs: 1_000 });
  const file = await writeSandboxConfiguration(sandbox);
  const config = await loadConfig({ file, env: {} });
  const openTerminal = () => createTerminal({ reports: createReports(io.stdout, false), config: file, io });
  const { command, say, sourceMessages } = openTerminal();
  const yesterday = businessDayAt(new Date(), config.timezone).previous();
  const days = { body: yesterday.previous(), file: yesterday } as const;

  /** Shows the progress; the closing lines only if it fails. */
  async function review(day: BusinessDay, delivery: DeliveryKind): Promise<number> {
    const path = (await composeSource(config, sourceMessages)).source.locate(day);
    await writeDayFile(path, { day: day.iso, count: bookings, seed: 6, world, wrongShare }, 'csv', io);
    const closing: string[] = [];
    const terminal: Terminal = { ...openTerminal(), say: (text) => void closing.push(text) };
    const request = { mode: 'run', trigger: 'manual', delivery } as const;
    try {
      const code = await withApp({ ...config, delivery }, terminal, (app) => runReview(app, day, request));
      if (code !== exitCode.done) say(closing.join('\n'));
      return code;
    } finally {
      terminal.endProgress();
    }
  }

  /** Fills the local copy of the mappings, and loads the content of the hotels from an export. */
  async function bringHotels(): Promise<void> {
    const quiet: Terminal = {
      ...openTerminal(),
      notify: () => {},
      say: () => {},
      answer: () => exitCode.done,
    };
    // The sandbox's files appear whole.
    const eager = { ...config, file: { ...config.file, resultPollSeconds: 0.1, resultQuietSeconds: 0.2 } };
    await withApp(eager, quiet, async (app) => {
      await syncOnce(app, {});
      await requestOneExport(app, { email: account.email, providers: [] });
      await fetchOneExport(app, {});
    });
  }

  const look = (see: (app: App) => Promise<void>) => withApp(config, openTerminal(), see);

  let code: number;
  try {
    say(`Two made-up nights of ${formatCount(bookings)} records, reviewed by a sandbox of the mapping`);
    say(`service on this machine. Everything is in ${folder}\n\n`);
    await bringHotels();
    say('A night by body: the bookings are posted in batches.\n\n');
    code = await review(days.body, 'body');
    if (code === exitCode.done) {
      await look((app) => sayNight(app, days.body));
      say('A night by file: one file is uploaded, and the result comes back beside it.\n\n');
      code = await review(days.file, 'file');
    }
  } catch (error) {
    code = reportFailure(error, io);
  }
  if (code !== exitCode.done) {
    await sandbox.close();
    sayWhatIsLeft(command, io);
    return code;
  }
  // Waits for the last e-mails.
  if (!stay) await sandbox.close();
  await look(async (app) => {
    await sayNight(app, days.file);
    const found = await sayWrongBooking(app, days.file);
    say(`\nThe sandbox ${stay ? 'is running' : 'has stopped'}; its folder is kept. What to do next:\n\n`);
    sayWhatIsNext(app, days.file, found.id, sandbox.service.emails[0], stay);
  });
  if (!stay) return code;
  try {
    return await serveDesk(config, folder, openTerminal());
  } finally {
    await sandbox.close();
  }
}

/** Serves the desk until Ctrl-C, with a user of each role. */
async function serveDesk(config: Config, folder: string, terminal: Terminal): Promise<number> {
  const path = join(folder, 'users.json');
  const secret = randomBytes(12).toString('base64url');
  const password = await hashPassword(secret);
  const users = roles.toSorted().map((name) => ({ name, role: name, password }));
  openUsersFile(path).replace({ ...createUsers(), users });
  terminal.say(`
To sign in there: ${roles.join(', ')}; the password of each is ${secret}
It is not shown again.
`);
  const { serve } = await import('../commands/serve.js');
  return withApp({ ...config, server: { ...config.server, users: path } }, terminal, (app) =>
    serve(app, { port: 0 }),
  );
}

function reportFailure(error: unknown, { stderr }: CommandIo): number {
  const failure = describeFailure(error);
  print(stderr, `${failure.message}\n`);
  return failure.exitCode;
}

function wrap(text: string): string {
  return wrapText(text, 0).join('\n');
}

/** Says what became of the records of a night. */
async function sayNight(app: App, { iso: day }: BusinessDay): Promise<void> {
  const run = await (await app.findLedger())?.runs.latest(day);
  if (!run) return;
  const { counts, delivery } = run;
  const sent = `${day}: ${formatCount(counts.delivered)} bookings sent for review. ${formatCount(counts.rejected)} records`;
  const others = `can't be sent and were rejected; ${formatCount(counts.duplicates)} came twice.`;
  const verdict =
    delivery === 'file'
      ? `The result says that ${formatCountOf(counts.affected ?? 0, 'booking')} would bring the guest to another hotel.`
      : 'Which of them are wrong, the service says by e-mail.';
  app.say(`\n${wrap(`${sent} ${others} ${verdict}`)}\n\n`);
}

/** Says which wrong booking to look at first: where the guest would arrive, and how far that is from what was booked. */
async function sayWrongBooking(app: App, day: BusinessDay): Promise<ListedCase> {
  const ledger = await app.findLedger();
  const cases = ledger ? await findCases(ledger, { today: app.today() }, clock()) : [];
  const found = cases.find(({ origins }) => origins.includes('affected'));
  const held = found && (await ledger?.cases.find(found.id));
  const booking = held?.bookings.find((one) => one.day === day.iso && one.isNamed);
  if (!found || !booking) throw new Error('expected a case of a booking that the result names');
  const { serviceId, copyServiceId, copy, hotels, providerName, providerHotelId } = found;
  app.say(`The most urgent one: booking ${booking.reference}, check-in ${booking.checkIn}`);
  for (const line of renderPair(hotels, { serviceId, copyServiceId, copy })) app.say(line);
  app.say(
    wrap(
      `Booked is the hotel of the booking's ServiceId, ${serviceId}. But by the local copy of the mappings, hotel ${providerHotelId} of ${providerName} is another one, where the guest would arrive: ${copyServiceId}.`,
    ),
  );
  return found;
}

/** A failed run suggests resuming it, but here the sandbox is gone. */
function sayWhatIsLeft(command: WriteCommand, io: CommandIo): void {
  print(
    io.stdout,
    `
${io.signal.aborted ? 'Stopped' : 'That went wrong'}, and the sandbox with it: these two days can't be resumed.
To start over in a new folder:
  npm start
To see what was kept:
  ${command('status')}
`,
  );
}

/** @param email one with verdicts by body */
function sayWhatIsNext(
  { command, say }: Terminal,
  { iso: day }: BusinessDay,
  caseId: number,
  email: string | undefined,
  stay: boolean,
): void {
  const readEmail =
    email === undefined
      ? []
      : [['Read a verdict that came by e-mail', command(`verdicts import ${quoteForShell(email)}`)]];
  const steps = [
    ['Work on that booking: phones, other bookings, what was done', command(`case ${caseId}`)],
    ['List all wrong bookings of the night', command(`affected ${day}`)],
    ...readEmail,
    ['List both nights', command('status')],
    ['Check that what was sent matches the ledger', command(`verify ${day}`)],
    ...(stay ? [] : [['See the same in the browser', 'npm start -- --stay']]),
    ['Set up your own account, in five steps (README.md)', 'npx --no hotel-review init'],
  ];
  say(steps.map(([what, typed]) => `${what}:\n  ${typed}`).join('\n'));
}
