import { resolve } from 'node:path';
import { type Log, silentLog } from '../src/cli/log.js';
import type { RangeProgress } from '../src/cli/range-progress.js';
import { createTerminalProgress } from '../src/cli/terminal-progress.js';
import { commandNameIn } from '../src/config/command-name.js';
import type { NotifyAll } from '../src/events/events.js';
import { describeError } from '../src/text/safe-error.js';
import { createCommandWriter, type WriteCommand } from '../src/text/shell.js';
import { clock } from './clock.js';
import { type ObserverParts, openObservers } from './observers.js';
import type { CommandIo } from './process.js';
import type { SourceVoice } from './sources.js';

/** Where a job speaks: progress and words to a person, the report to a program. */
export interface Terminal {
  /** Aborts when the process is asked to stop. */
  readonly signal: AbortSignal;
  /** The process that the job runs in, as far as a job may use it. */
  readonly io: CommandIo;
  /** A path from the command line, absolute. */
  readonly locate: (path: string) => string;
  /** Hands events to all observers. */
  readonly notify: NotifyAll;
  /** The same, for a process that also counts them. */
  notifyCounting(counters: ObserverParts['counters']): NotifyAll;
  /** Writes log lines where they were asked for. */
  readonly log: Log;
  endProgress(): void;
  /** Shows the progress of many days at once, instead of one. */
  followDays(): Pick<RangeProgress, 'end' | 'say' | 'stop'>;
  /** Words for a person: standard output, or standard error where a program reads that. */
  say(text: string): void;
  /** What sources have to say to a person while they are read. */
  readonly voice: SourceVoice;
  /** A command as a person would type it here. */
  readonly command: WriteCommand;
  /** The one JSON object of `--json`; nothing otherwise. */
  report(report: object): void;
  /** The answer to a question: its words for a person, or its JSON for a program. */
  answer(text: string, report: object): void;
}

interface TerminalOptions {
  readonly json: boolean;
  /** The configuration file, as it was named. */
  readonly config: string;
  /** Takes the place of the progress. */
  readonly log?: Log | undefined;
  /** Shows the messages of a bookings module's errors, which may quote a booking. */
  readonly showsModuleErrors?: boolean;
  readonly io: CommandIo;
}

export function createTerminal(options: TerminalOptions): Terminal {
  const { json, config, log, showsModuleErrors = false, io } = options;
  const { stdout: output, stderr: errors } = io;
  const progressOptions = { stream: errors, clock, isDumb: io.env.TERM === 'dumb' };
  const progress = createTerminalProgress(progressOptions);
  const onFault = (error: unknown) => {
    if (log) log.error({ fault: describeError(error) }, 'observer failed');
    else errors.write(`warning: the progress can't be shown: ${describeError(error)}\n`);
  };
  const notifyCounting = (counters: ObserverParts['counters']) =>
    openObservers({ progress, log, counters, onFault });
  const say = (text: string) => {
    (json ? errors : output).write(text.endsWith('\n') ? text : `${text}\n`);
  };
  const report = (object: object) => {
    if (json) output.write(`${JSON.stringify(object)}\n`);
  };
  return {
    signal: io.signal,
    io,
    locate: (path) => resolve(io.cwd, path),
    notify: notifyCounting(undefined),
    notifyCounting,
    log: log ?? silentLog,
    endProgress: progress.stop,
    followDays: () =>
      log ? { end() {}, say: (words) => log.info(words), stop() {} } : progress.followDays(),
    say,
    voice: { say: (text) => void errors.write(`${text}\n`), showsModuleErrors },
    command: createCommandWriter(commandNameIn(io.env), config),
    report,
    answer: (text, object) => (json ? report(object) : say(text)),
  };
}
