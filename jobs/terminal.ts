import { randomInt } from 'node:crypto';
import { resolve } from 'node:path';
import { createPalette, type Paint } from '../src/base/colours.js';
import { print } from '../src/base/foreign-text.js';
import { describeError } from '../src/base/safe-error.js';
import { createCommandWriter, type WriteCommand } from '../src/base/shell.js';
import { commandNameIn } from '../src/config/command-name.js';
import {
  createLogObserver,
  createNotify,
  type Log,
  type NotifyAll,
  type Observer,
  silentLog,
} from '../src/notify/events.js';
import { createProgress, type Progress } from '../src/notify/progress.js';
import type { SourceMessages } from '../src/sources/common/kind.js';
import { clock } from './clock.js';
import { type ExitCode, exitCode } from './exit-code.js';
import type { CommandIo } from './process.js';
import { createReports, type Reports, renderLargeObject } from './reports.js';

/** The output of a job: progress and text for a person, reports for a program. */
export interface Terminal {
  /** Aborts when the process is asked to stop. */
  readonly signal: AbortSignal;
  /** What a job may use of its process. */
  readonly io: CommandIo;
  /** Resolves a path from the command line. */
  readonly locate: (path: string) => string;
  /** Hands events to all observers. */
  readonly notify: NotifyAll;
  /** Hands events to that observer, too. */
  observe(observer: Observer): void;
  /** Writes log lines if they were requested. */
  readonly log: Log;
  /** Further output starts on a line of its own. */
  readonly endProgress: Progress['stop'];
  /** Shows the progress of many days at once, instead of one. */
  readonly followDays: Progress['followDays'];
  /** Text for a person: on standard output, or on standard error with `--json`. */
  say(text: string): void;
  /** Shows no progress and holds back what is said, until it is released. Returns what does that. */
  holdBack(): () => void;
  /** A line for a person on standard error. */
  warn(line: string): void;
  /** A warning: a log line if those are written, otherwise a line on standard error. */
  caution(message: string): void;
  /** Messages of sources for a person while they are being read. */
  readonly sourceMessages: SourceMessages;
  /** Writes a command as a person would type it. */
  readonly command: WriteCommand;
  /** The same for people who read it on another machine: in a message, on a page. */
  readonly commandElsewhere: WriteCommand;
  /** Colours words of texts for a person, where there is a terminal. */
  readonly paint: Paint;
  /** Prints an object with `--json`; nothing otherwise. */
  readonly report: Reports['write'];
  /** Prints a text for a person, or its JSON with `--json`. Returns the exit code. */
  answer(text: Text, json: object, code?: ExitCode): ExitCode;
  /**
   * The same for an object with members that are lists too long for memory: each of them is a function that reads its chunks
   * (see `renderLargeObject`). Its text is its JSON, indented, unless there is another one.
   */
  answerLarge(
    text: Text | undefined,
    members: Readonly<Record<string, unknown>>,
    code?: ExitCode,
  ): Promise<ExitCode>;
}

/** A text, or its lines; those that don't apply are false or undefined. */
type Text = string | readonly (string | readonly string[] | false | undefined)[];

function toText(text: Text): string {
  if (typeof text === 'string') return text;
  return text
    .filter((line) => line !== false && line !== undefined)
    .flat()
    .join('\n');
}

interface TerminalOptions {
  readonly reports: Reports;
  /** The configuration file, as given. */
  readonly config: string;
  /** Replaces the progress. */
  readonly log?: Log | undefined;
  /** Shows the messages of a bookings module's errors, which may quote a booking. */
  readonly showsModuleErrors?: boolean;
  readonly io: CommandIo;
}

export function createTerminal(options: TerminalOptions): Terminal {
  const { reports, config, log, showsModuleErrors = false, io } = options;
  const { stdout: output, stderr: errors } = io;
  const target = reports.isJson ? errors : output;
  const palette = createPalette({ stream: target, env: io.env, mark: createMark() });
  const warn = (line: string) => void print(errors, `${line}\n`);
  const progress = createProgress({ stream: errors, clock, isDumb: io.env.TERM === 'dumb' });
  const onFault = (error: unknown) => {
    if (log) log.error({ fault: describeError(error) }, 'observer failed');
    else warn(`warning: the progress can't be shown: ${describeError(error)}`);
  };
  let held: string[] | undefined;
  const showProgress: Observer = (event) => {
    if (!held) progress.notify(event);
  };
  const observers: Observer[] = [log ? createLogObserver(log) : showProgress];
  const say = (text: string) => {
    if (held) held.push(text);
    else print(target, text.endsWith('\n') ? text : `${text}\n`, palette.show);
  };
  return {
    signal: io.signal,
    io,
    locate: (path) => resolve(io.cwd, path),
    notify: createNotify(observers, onFault),
    observe: (observer) => void observers.push(observer),
    log: log ?? silentLog,
    endProgress: progress.stop,
    followDays: () =>
      log ? { end() {}, say: (words) => log.info(words), stop() {} } : progress.followDays(),
    say,
    holdBack() {
      held = [];
      return () => {
        const texts = held ?? [];
        held = undefined;
        for (const text of texts) say(text);
      };
    },
    warn,
    caution: (message) => (log ? log.warn(message) : warn(`warning: ${message}`)),
    sourceMessages: { say: warn, showsModuleErrors },
    paint: palette.paint,
    command: createCommandWriter(commandNameIn(io.env, io.script), config),
    commandElsewhere: createCommandWriter(commandNameIn(io.env), config),
    report: reports.write,
    answer(text, json, code = exitCode.done) {
      if (reports.isJson) reports.write(json);
      else say(toText(text));
      return code;
    },
    async answerLarge(text, members, code = exitCode.done) {
      if (reports.isJson) await reports.writeInPieces(renderLargeObject(members), io.signal);
      else if (text !== undefined) say(toText(text));
      else await createReports(output, true).writeInPieces(renderLargeObject(members, 2), io.signal);
      return code;
    },
  };
}

function createMark(): string {
  const digits = () => String(randomInt(1_000, 10_000));
  return `${digits()};${digits()}`;
}
