import { resolve } from 'node:path';
import { createCommandWriter, type WriteCommand } from '../src/cli/command-writer.js';
import { createExportProgress, type ExportProgress } from '../src/cli/export-progress.js';
import type { Log } from '../src/cli/log.js';
import { createEventLog } from '../src/cli/log-events.js';
import { createExportLog } from '../src/cli/log-export.js';
import { createSyncLog } from '../src/cli/log-sync.js';
import { createProgress } from '../src/cli/progress.js';
import { createRangeProgress, type RangeProgress } from '../src/cli/range-progress.js';
import { silentLog } from '../src/cli/silent-log.js';
import { createSyncProgress, type SyncProgress } from '../src/cli/sync-progress.js';
import { commandNameIn } from '../src/config/command-name.js';
import type { Notify } from '../src/review/events.js';
import { clock } from './clock.js';
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
  readonly notify: Notify;
  /** Log lines, where they were asked for; nowhere otherwise. */
  readonly log: Log;
  endProgress(): void;
  /** The progress of many days at once, instead of that of one. */
  followDays(): RangeProgress;
  /** The progress of a sync of the local copy. */
  followSync(): SyncProgress;
  /** The progress of an export that is fetched. */
  followExport(): ExportProgress;
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
  const progress = createProgress(progressOptions);
  const notify = log ? createEventLog(log) : progress.notify;
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
    notify,
    log: log ?? silentLog,
    endProgress: progress.stop,
    followDays: () =>
      log
        ? { notify, end() {}, say: (words) => log.info(words), stop() {} }
        : createRangeProgress(progressOptions),
    followSync: () => (log ? { notify: createSyncLog(log), stop() {} } : createSyncProgress(progressOptions)),
    followExport: () =>
      log ? { notify: createExportLog(log), stop() {} } : createExportProgress(progressOptions),
    say,
    voice: { say: (text) => void errors.write(`${text}\n`), showsModuleErrors },
    command: createCommandWriter(commandNameIn(io.env), config),
    report,
    answer: (text, object) => (json ? report(object) : say(text)),
  };
}
