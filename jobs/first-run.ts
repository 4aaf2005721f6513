import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type BusinessDay, businessDayAt } from '../src/booking/business-day.js';
import type { CaseBooking } from '../src/cases/case.js';
import type { ReadOnlyCaseLedger } from '../src/cases/case-store.js';
import { findCases, type ListedCase } from '../src/cases/find-cases.js';
import { exitCode } from '../src/cli/exit-code.js';
import { describeFailure } from '../src/cli/failure.js';
import { renderPair } from '../src/cli/hotel-pair.js';
import { loadConfig } from '../src/config/load.js';
import type { DeliveryKind, Run } from '../src/review/run.js';
import { writeDayFile } from '../src/sandbox/bookings/write-day.js';
import { writeSandboxConfiguration } from '../src/sandbox/configuration.js';
import { account, type SandboxEvent, startSandbox } from '../src/sandbox/sandbox.js';
import { createWorld } from '../src/sandbox/world/world.js';
import { formatCount, formatCountOf, wrapText } from '../src/text/format.js';
import { createReports } from '../src/text/reports.js';
import { quoteForShell, type WriteCommand } from '../src/text/shell.js';
import { UsageError } from '../src/text/usage-error.js';
import { print } from '../src/text/visible.js';
import { withApp } from './app.js';
import { clock } from './clock.js';
import { requestOneExport } from './export.js';
import { fetchOneExport } from './export-fetch.js';
import { syncOnce } from './mappings-sync.js';
import { withReadOnlyLedger } from './parts.js';
import { type CommandIo, runAsProcess } from './process.js';
import { reviewDay } from './review-day.js';
import { openSource } from './sources.js';
import { createTerminal, type Terminal } from './terminal.js';

/**
 * `npm start`: reviews two made-up days with the sandbox, one by body and one by file. Needs no setup and leaves nothing
 * running, except with `--stay`: then the sandbox and the desk stay until Ctrl-C.
 */
const bookings = 10_000;
const wrongShare = 0.0008;

await runAsProcess(async (io) => {
  try {
    return await reviewTwoDays(io, readOptions(process.argv.slice(2)));
  } catch (error) {
    return reportFailure(error, io);
  }
});

interface FirstRunOptions {
  readonly stay: boolean;
}

function readOptions(words: readonly string[]): FirstRunOptions {
  try {
    return parseArgs({ args: [...words], options: { stay: { type: 'boolean', default: false } } }).values;
  } catch {
    throw new UsageError('npm start takes no argument but --stay: npm start -- --stay');
  }
}

async function reviewTwoDays(io: CommandIo, { stay }: FirstRunOptions): Promise<number> {
  const say = sayOn(io);
  const emails: string[] = [];
  const noteEmail = (event: SandboxEvent) => {
    if (event.kind === 'email-written') emails.push(event.email);
  };
  const world = createWorld();
  const folder = await mkdtemp(join(io.temporaryFolder, 'review-'));
  const sandbox = await startSandbox({ folder, clock, world, resultDelayMs: 1_000, onEvent: noteEmail });
  const file = await writeSandboxConfiguration(sandbox);
  const config = await loadConfig({ file, env: {} });
  const openTerminal = () => createTerminal({ reports: createReports(io.stdout, false), config: file, io });
  const { command, sourceMessages } = openTerminal();
  const yesterday = businessDayAt(new Date(), config.timezone).previous();
  const days = { body: yesterday.previous(), file: yesterday } as const;

  /** Shows the progress; the closing lines only if it fails. */
  async function review(day: BusinessDay, delivery: DeliveryKind): Promise<number> {
    const path = (await openSource(config, sourceMessages)).locate(day);
    await writeDayFile(path, { day: day.iso, count: bookings, seed: 6, world, wrongShare }, 'csv', io);
    const closing: string[] = [];
    const terminal: Terminal = { ...openTerminal(), say: (text) => void closing.push(text) };
    const request = { mode: 'run', trigger: 'manual', delivery } as const;
    try {
      const code = await withApp({ ...config, delivery }, terminal, (app) => reviewDay(app, day, request));
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

  const readLedger = <Result>(read: (ledger: ReadOnlyCaseLedger) => Promise<Result>) =>
    withReadOnlyLedger(config, () => undefined, read);

  let code: number;
  try {
    say(`Two made-up nights of ${formatCount(bookings)} records, reviewed by a sandbox of the mapping`);
    say(`service on this machine. Everything is in ${folder}\n`);
    await bringHotels();
    say('A night by body: the bookings are posted in batches.\n');
    code = await review(days.body, 'body');
    if (code === exitCode.done) {
      await readLedger(async (ledger) => say(describeNight(await ledger.latestRun(days.body.iso))));
      say('A night by file: one file is uploaded, and the result comes back beside it.\n');
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
  await readLedger(async (ledger) => {
    say(describeNight(await ledger.latestRun(days.file.iso)));
    const today = businessDayAt(new Date(clock()), config.timezone).iso;
    const found = (await findCases(ledger, { today }, clock)).find(({ origins }) =>
      origins.includes('affected'),
    );
    const held = found && (await ledger.cases.find(found.id));
    const booking = held?.bookings.find(({ day, isNamed }) => day === days.file.iso && isNamed);
    if (!found || !booking) throw new Error('expected a case of a booking that the result names');
    say(describeWrongBooking(found, booking));
    say(`\nThe sandbox ${stay ? 'is running' : 'has stopped'}; its folder is kept. What to do next:\n`);
    sayWhatIsNext({ days, caseId: found.id, email: emails[0], stay }, command, say);
  });
  if (!stay) return code;
  try {
    const { serveDesk } = await import('./serve-desk.js');
    return await serveDesk(config, folder, openTerminal());
  } finally {
    await sandbox.close();
  }
}

type Say = (text: string) => void;

function sayOn({ stdout }: CommandIo): Say {
  return (text) => void print(stdout, `${text}\n`);
}

function reportFailure(error: unknown, { stderr }: CommandIo): number {
  const failure = describeFailure(error);
  print(stderr, `${failure.message}\n`);
  return failure.exitCode;
}

function wrap(text: string): string {
  return wrapText(text, 0).join('\n');
}

/** What became of the records of a night. */
function describeNight(run: Run | undefined): string {
  if (!run) return '';
  const { counts, day } = run;
  const sent = `${day}: ${formatCount(counts.delivered)} bookings sent for review. ${formatCount(counts.rejected)} records`;
  const others = `can't be sent and were rejected; ${formatCount(counts.duplicates)} came twice.`;
  const verdict =
    run.delivery === 'file'
      ? `The result says that ${formatCountOf(counts.affected ?? 0, 'booking')} would bring the guest to another hotel.`
      : 'Which of them are wrong, the service says by e-mail.';
  return `\n${wrap(`${sent} ${others} ${verdict}`)}\n`;
}

/** The wrong booking to look at first: where the guest would arrive, and how far that is from what was booked. */
function describeWrongBooking(found: ListedCase, { reference, checkIn }: CaseBooking): string {
  const { serviceId, copyServiceId, copy, hotels, providerName, providerHotelId } = found;
  return [
    `The most urgent one: booking ${reference}, check-in ${checkIn}`,
    ...renderPair(hotels, { serviceId, copyServiceId, copy }),
    wrap(
      `Booked is the hotel of the booking's ServiceId, ${serviceId}. But by the local copy of the mappings, hotel ${providerHotelId} of ${providerName} is another one, where the guest would arrive: ${copyServiceId}.`,
    ),
  ].join('\n');
}

/** A failed run suggests resuming it, but here the sandbox is gone. */
function sayWhatIsLeft(command: WriteCommand, io: CommandIo): void {
  sayOn(io)(`
${io.signal.aborted ? 'Stopped' : 'That went wrong'}, and the sandbox with it: these two days can't be resumed.
To start over in a new folder:
  npm start
To see what was kept:
  ${command('status')}`);
}

interface WhatIsLeft {
  readonly days: Readonly<Record<DeliveryKind, BusinessDay>>;
  readonly caseId: number;
  /** One with verdicts by body. */
  readonly email: string | undefined;
  readonly stay: boolean;
}

function sayWhatIsNext({ days, caseId, email, stay }: WhatIsLeft, command: WriteCommand, say: Say): void {
  const readEmail =
    email === undefined
      ? []
      : [['Read a verdict that came by e-mail', command(`verdicts import ${quoteForShell(email)}`)]];
  const steps = [
    ['Work on that booking: phones, other bookings, what was done', command(`case ${caseId}`)],
    ['List all wrong bookings of the night', command(`affected ${days.file.iso}`)],
    ...readEmail,
    ['List both nights', command('status')],
    ['Check that what was sent matches the ledger', command(`verify ${days.file.iso}`)],
    ...(stay ? [] : [['See the same in the browser', 'npm start -- --stay']]),
    ['Set up your own account, in five steps (README.md)', 'npx hotel-review init'],
  ];
  say(steps.map(([what, typed]) => `${what}:\n  ${typed}`).join('\n'));
}
