import { randomInt } from 'node:crypto';
import { resolve } from 'node:path';
import { createPalette } from '../src/base/colours.js';
import { print } from '../src/base/foreign-text.js';
import { describeError } from '../src/base/safe-error.js';
import { createCommandWriter } from '../src/base/shell.js';
import { commandNameIn } from '../src/config/command-name.js';
import { createLogObserver, createNotify, type Log, type Observer, silentLog } from '../src/notify/events.js';
import { createProgress, type Progress } from '../src/notify/progress.js';
import { clock } from './clock.js';
import { type ExitCode, exitCode } from './exit-code.js';
import type { CommandIo } from './process.js';
import { createReports, type Reports, renderLargeObject } from './reports.js';

/** The output of a job: progress and text for a person, reports for a program. */
export type Terminal = ReturnType<typeof createTerminal>;

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

export function createTerminal({ reports, config, log, showsModuleErrors = false, io }: TerminalOptions) {
  const { stdout: output, stderr: errors } = io;
  const target = reports.isJson ? errors : output;
  const palette = createPalette({ stream: target, env: io.env, mark: createMark() });
  const warn = (line: string): void => {
    print(errors, `${line}\n`);
  };
  const progress = createProgress(errors, clock, io.env.TERM === 'dumb');
  const onFault = (error: unknown) => {
    if (log) log.error({ fault: describeError(error) }, 'observer failed');
    else warn(`warning: the progress can't be shown: ${describeError(error)}`);
  };
  let held: string[] | undefined;
  const showProgress: Observer = (event) => {
    if (!held) progress.notify(event);
  };
  const observers: Observer[] = [log ? createLogObserver(log, clock) : showProgress];
  const say = (text: string) => {
    if (held) held.push(text);
    else print(target, text.endsWith('\n') ? text : `${text}\n`, palette.show);
  };
  return {
    /** Aborts when the process is asked to stop. */
    signal: io.signal,
    /** What a job may use of its process. */
    io,
    /** Resolves a path from the command line. */
    locate: (path: string) => resolve(io.cwd, path),
    /** Hands events to all observers. */
    notify: createNotify(observers, onFault),
    /** Hands events to that observer, too. */
    observe(observer: Observer): void {
      observers.push(observer);
    },
    /** Writes log lines if they were requested. */
    log: log ?? silentLog,
    /** Further output starts on a line of its own. */
    endProgress: progress.stop,
    /** Shows the progress of many days at once, instead of one. */
    followDays: (): ReturnType<Progress['followDays']> =>
      log ? { end() {}, say: (words) => log.info(words), stop() {} } : progress.followDays(),
    /** Text for a person: on standard output, or on standard error with `--json`. */
    say,
    /** Shows no progress and holds back what is said, until it is released. Returns what does that. */
    holdBack() {
      held = [];
      return () => {
        const texts = held ?? [];
        held = undefined;
        for (const text of texts) say(text);
      };
    },
    /** A line for a person on standard error. */
    warn,
    /** A warning: a log line if those are written, otherwise a line on standard error. */
    caution: (message: string): void => (log ? log.warn(message) : warn(`warning: ${message}`)),
    /** Messages of sources for a person while they are being read. */
    sourceMessages: { say: warn, showsModuleErrors },
    /** Colours words of texts for a person, where there is a terminal. */
    paint: palette.paint,
    /** Writes a command as a person would type it. */
    command: createCommandWriter(commandNameIn(io.env, io.script), config),
    /** The same for people who read it on another machine: in a message, on a page. */
    commandElsewhere: createCommandWriter(commandNameIn(io.env), config),
    /** Prints an object with `--json`; nothing otherwise. */
    report: reports.write,
    /** Prints a text for a person, or its JSON with `--json`. Returns the exit code. */
    answer(text: Text, json: object, code: ExitCode = exitCode.done): ExitCode {
      if (reports.isJson) reports.write(json);
      else say(toText(text));
      return code;
    },
    /**
     * The same for an object with members that are lists too long for memory: each of them is a function that reads its chunks
     * (see `renderLargeObject`). Its text is its JSON, indented, unless there is another one.
     */
    async answerLarge(
      text: Text | undefined,
      members: Readonly<Record<string, unknown>>,
      code: ExitCode = exitCode.done,
    ): Promise<ExitCode> {
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
