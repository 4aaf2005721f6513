import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BusinessDay, businessDayAt } from '../src/booking/business-day.js';
import type { WriteCommand } from '../src/cli/command-writer.js';
import { describeFailure, exitCode } from '../src/cli/exit-code.js';
import { listenForStop } from '../src/cli/stop-signal.js';
import { loadConfig } from '../src/config/load.js';
import type { DeliveryKind } from '../src/review/run.js';
import { writeDayFile } from '../src/sandbox/bookings/day-file.js';
import { writeSandboxConfiguration } from '../src/sandbox/configuration.js';
import { type SandboxEvent, startSandbox } from '../src/sandbox/sandbox.js';
import { createWorld, usualWorldSeed } from '../src/sandbox/world.js';
import { formatCount } from '../src/text/format.js';
import { clock } from './clock.js';
import { listAffected } from './list-affected.js';
import { reviewDay } from './review-day.js';
import { openSource } from './sources.js';
import { createTerminal } from './terminal.js';

/**
 * `npm start`: two made-up days against the sandbox, one by body and one by file, with nothing to set up and nothing
 * left running.
 */
const bookings = 10_000;
const wrongShare = 0.0008;

const { stdout: output, stderr: errors } = process;
const stop = listenForStop(process, errors);
const say = (text: string) => output.write(`${text}\n`);

const letters = { byBody: [] as string[], byFile: [] as string[] };
const world = createWorld({ seed: usualWorldSeed });
try {
  process.exitCode = await reviewTwoDays();
} catch (error) {
  process.exitCode = tellFailure(error);
} finally {
  stop.ignore();
}

async function reviewTwoDays(): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'review-'));
  const sandbox = await startSandbox({ folder, clock, world, resultDelayMs: 1_000, onEvent: noteLetter });
  const file = await writeSandboxConfiguration(sandbox);
  const config = await loadConfig({ file, env: {} });
  const openTerminal = () =>
    createTerminal({ json: false, config: file, signal: stop.signal, output, errors });
  const { command } = openTerminal();
  const yesterday = businessDayAt(new Date(), config.timezone).previous();
  const days = { body: yesterday.previous(), file: yesterday } as const;
  async function review(day: BusinessDay, delivery: DeliveryKind): Promise<number> {
    const path = openSource(config).locate(day);
    await writeDayFile(path, { day: day.iso, count: bookings, seed: 1, world, wrongShare }, 'csv', stop);
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

  let code: number;
  try {
    say(`Two made-up days of ${formatCount(bookings)} records, reviewed by a sandbox of the mapping`);
    say(`service on this machine. Everything is in ${folder}\n`);
    code = (await review(days.body, 'body')) || (await review(days.file, 'file'));
  } catch (error) {
    code = tellFailure(error);
  }
  // The last letters are written then.
  await sandbox.close();
  if (code !== exitCode.done) {
    sayWhatIsLeft(command);
    return code;
  }
  await listAffected(config, days.file.iso, {}, openTerminal());
  sayLetters('The e-mail about them:', letters.byFile);
  sayLetters('By body, the service names affected bookings by e-mail alone:', letters.byBody);
  sayWhatIsNext(days, command);
  return code;
}

function tellFailure(error: unknown): number {
  const failure = describeFailure(error);
  errors.write(`${failure.message}\n`);
  return failure.exitCode;
}

function noteLetter(event: SandboxEvent): void {
  switch (event.kind) {
    case 'letter-written':
      letters.byBody.push(event.letter.path);
      break;
    case 'result-written':
      if (event.letter !== undefined) letters.byFile.push(event.letter);
  }
}

function sayLetters(title: string, [first, ...others]: readonly string[]): void {
  if (first === undefined) return;
  say(title);
  say(`  ${first}`);
  if (others.length > 0) say(`  and ${others.length} more beside it`);
}

/** The closing words of a run name the run that would go on with it; without the sandbox it can't. */
function sayWhatIsLeft(command: WriteCommand): void {
  say(`
${stop.signal.aborted ? 'Stopped' : 'That went wrong'}, and the sandbox with it: these two days can't go on.
To begin anew, in a fresh folder:
  npm start
What was kept:
  ${command('status')}`);
}

function sayWhatIsNext(days: Readonly<Record<DeliveryKind, BusinessDay>>, command: WriteCommand): void {
  say(`
The sandbox is stopped; the folder is kept. What to do next:

Ask about a booking:
  ${command(`show BR-${days.body.iso.slice(2).replaceAll('-', '')}-42`)}
See both days again:
  ${command('status')}
Prove that what was sent is what the ledger says:
  ${command(`verify ${days.file.iso}`)}
Your own account, in five steps (README.md):
  npx hotel-review init`);
}
