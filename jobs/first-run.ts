import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type BusinessDay, businessDayAt } from '../src/booking/business-day.js';
import { findCases } from '../src/cases/find-cases.js';
import { exitCode } from '../src/cli/exit-code.js';
import { describeFailure } from '../src/cli/failure.js';
import { createReports } from '../src/cli/reports.js';
import { type Config, loadConfig } from '../src/config/load.js';
import { UsageError } from '../src/review/refusals.js';
import type { DeliveryKind } from '../src/review/run.js';
import { writeDayFile } from '../src/sandbox/bookings/write-day.js';
import { writeSandboxConfiguration } from '../src/sandbox/configuration.js';
import { account, type SandboxEvent, startSandbox } from '../src/sandbox/sandbox.js';
import { createWorld } from '../src/sandbox/world/world.js';
import { formatCount } from '../src/text/format.js';
import { quoteForShell, type WriteCommand } from '../src/text/shell.js';
import { print } from '../src/text/visible.js';
import { changeCase } from './change-case.js';
import { clock } from './clock.js';
import { fetchOneExport } from './fetch-export.js';
import { withReadOnlyLedger } from './ledgers.js';
import { listAffected } from './list-affected.js';
import { type CommandIo, runAsProcess } from './process.js';
import { requestOneExport } from './request-export.js';
import { reviewDay } from './review-day.js';
import { openSource } from './sources.js';
import { syncOnce } from './sync-mappings.js';
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
  const emails = { byBody: [] as string[], byFile: [] as string[] };
  const noteEmail = (event: SandboxEvent) => {
    if (event.kind === 'email-written') emails.byBody.push(event.email);
    if (event.kind === 'result-written' && event.email !== undefined) emails.byFile.push(event.email);
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
  async function review(day: BusinessDay, delivery: DeliveryKind): Promise<number> {
    const path = (await openSource(config, sourceMessages)).locate(day);
    await writeDayFile(path, { day: day.iso, count: bookings, seed: 6, world, wrongShare }, 'csv', io);
    const terminal = openTerminal();
    try {
      return await reviewDay(
        { ...config, delivery },
        day,
        { mode: 'run', trigger: 'manual', delivery },
        terminal,
      );
    } finally {
      terminal.endProgress();
      say('');
    }
  }

  /** Fills the local copy of the mappings, and loads the content of the hotels from an export. */
  async function bringHotels(): Promise<void> {
    const quiet: Terminal = { ...openTerminal(), notify: () => {}, say: () => {}, answer: () => {} };
    // The sandbox's files appear whole.
    const eager = { ...config, file: { ...config.file, resultPollSeconds: 0.1, resultQuietSeconds: 0.2 } };
    await syncOnce(eager, {}, quiet);
    await requestOneExport(eager, { email: account.email, providers: [] }, quiet);
    await fetchOneExport(eager, {}, quiet);
  }

  let code: number;
  try {
    say(`Two made-up days of ${formatCount(bookings)} records, reviewed by a sandbox of the mapping`);
    say(`service on this machine. Everything is in ${folder}\n`);
    await bringHotels();
    code = (await review(days.body, 'body')) || (await review(days.file, 'file'));
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
  await listAffected(
    config,
    days.file.iso,
    { unanswered: false, force: false },
    days.file.iso,
    openTerminal(),
  );
  sayEmails('The e-mail about them:', emails.byFile, say);
  sayEmails('By body, the service reports affected bookings by e-mail only:', emails.byBody, say);
  await showNextCase(config, openTerminal(), say);
  say(`\nThe sandbox ${stay ? 'is running' : 'has stopped'}; its folder is kept. What to do next:\n`);
  sayWhatIsNext(days, emails.byBody, command, say);
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

function sayEmails(title: string, [first, ...others]: readonly string[], say: Say): void {
  if (first === undefined) return;
  say(title);
  say(`  ${first}`);
  if (others.length > 0) say(`  and ${others.length} more in that folder`);
}

/** The most urgent case, of a guest in house or who checks in next: what was booked, where the guest would arrive, and how far that is. */
async function showNextCase(config: Config, terminal: Terminal, say: Say): Promise<void> {
  const today = businessDayAt(new Date(clock()), config.timezone).iso;
  const next = await withReadOnlyLedger(
    config,
    () => undefined,
    async (ledger) => (await findCases(ledger, { today }, clock))[0]?.id,
  );
  if (next === undefined) return;
  say('\nThe most urgent case, of a guest in house or who checks in next:');
  await changeCase(config, next, { kind: 'show' }, terminal);
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

function sayWhatIsNext(
  days: Readonly<Record<DeliveryKind, BusinessDay>>,
  [email]: readonly string[],
  command: WriteCommand,
  say: Say,
): void {
  const readEmail =
    email === undefined
      ? ''
      : `Open the cases that an e-mail reports:\n  ${command(`verdicts import ${quoteForShell(email)}`)}\n`;
  say(`${readEmail}List the cases, guests in house first:
  ${command('cases')}
Look up a booking:
  ${command(`show BR-${days.body.iso.slice(2).replaceAll('-', '')}-42`)}
List both days:
  ${command('status')}
Check that what was sent matches the ledger:
  ${command(`verify ${days.file.iso}`)}
Set up your own account, in five steps (README.md):
  npx hotel-review init`);
}
