import { randomInt } from 'node:crypto';
import { once } from 'node:events';
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

/**
 * @param options `config`: the configuration file, as given; `log` replaces the progress; `showsModuleErrors`: shows the messages of a
 *   bookings module's errors, which may quote a booking
 */
export function createTerminal(options: {
  readonly reports: Reports;
  readonly config: string;
  readonly log?: Log | undefined;
  readonly showsModuleErrors?: boolean;
  readonly io: CommandIo;
}) {
  const { reports, config, log, showsModuleErrors = false, io } = options;
  const { stdout: output, stderr: errors } = io;
  const target = reports.isJson ? errors : output;
  const palette = createPalette(target, io.env, createMark());
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

export type Reports = ReturnType<typeof createReports>;

/**
 * The JSON that a command prints on standard output with `--json`; without it, nothing is written. Programs expect one closing object,
 * however the command ends.
 */
export function createReports(output: NodeJS.WritableStream, isJson: boolean) {
  let isClosed = false;
  /** Whether an object was started but not finished. */
  let isCutOff = false;

  /** @param more whether another object follows; otherwise this one closes the output */
  function write(report: object, { more = false }: { readonly more?: boolean } = {}): void {
    if (!isJson) return;
    isClosed ||= !more;
    print(output, `${isCutOff ? '\n' : ''}${JSON.stringify(report)}\n`);
    isCutOff = false;
  }

  return {
    isJson,
    write,
    /** Writes one closing object as fast as it is read: the pieces together are its JSON. */
    async writeInPieces(pieces: AsyncIterable<string>, signal: AbortSignal): Promise<void> {
      if (!isJson) return;
      for await (const piece of pieces) {
        signal.throwIfAborted();
        // The reader may close the pipe, as `head` does.
        if (isClosed || !output.writable) return;
        isCutOff = true;
        if (!print(output, piece)) await once(output, 'drain', { signal }).catch(() => undefined);
      }
      signal.throwIfAborted();
      if (isClosed) return;
      print(output, '\n');
      isCutOff = false;
      isClosed = true;
    },
    /** Closes the output with an error, unless it is already closed. */
    fail({ class: name, message }: { readonly class: string; readonly message: string }): void {
      if (!isClosed) write({ error: { class: name, message } });
    },
  };
}

/** Records to be written as a JSON array, chunk by chunk. */
export type RecordChunks = () => AsyncIterable<readonly object[]>;

/**
 * The JSON of an object with members that are lists too long for memory: a million bookings exceed the longest string. Each
 * piece holds one chunk.
 *
 * @param indent as for `JSON.stringify`
 */
export async function* renderLargeObject(
  members: Readonly<Record<string, unknown>>,
  indent = 0,
): AsyncGenerator<string, void, undefined> {
  let before = '{';
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined) continue;
    yield `${before}${startOfLine(1, indent)}${JSON.stringify(name)}:${indent > 0 ? ' ' : ''}`;
    before = ',';
    if (typeof value === 'function') yield* renderArray((value as RecordChunks)(), indent);
    else yield renderAt(1, value, indent);
  }
  yield before === '{' ? '{}' : `${startOfLine(0, indent)}}`;
}

async function* renderArray(
  chunks: AsyncIterable<readonly object[]>,
  indent: number,
): AsyncGenerator<string> {
  let before = '[';
  for await (const records of chunks) {
    if (records.length === 0) continue;
    yield before + records.map((record) => startOfLine(2, indent) + renderAt(2, record, indent)).join(',');
    before = ',';
  }
  yield before === '[' ? '[]' : `${startOfLine(1, indent)}]`;
}

function startOfLine(level: number, indent: number): string {
  return indent === 0 ? '' : `\n${' '.repeat(level * indent)}`;
}

function renderAt(level: number, value: unknown, indent: number): string {
  const rendered = JSON.stringify(value, null, indent);
  return indent === 0 ? rendered : rendered.replaceAll('\n', startOfLine(level, indent));
}
