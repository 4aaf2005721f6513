import type { Key } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { isCancel, log, password, select, text } from '@clack/prompts';
import { StoppedError } from '../async/stopped-error.js';
import type { Choice } from '../sources/common/setup.js';
import { makeVisible, showInLine } from '../text/visible.js';

/** Asks for a line of text. An empty answer means the default or, without one, no answer. */
interface TextQuestion {
  readonly message: string;
  readonly fallback?: string | undefined;
  /** What is wrong with an answer; undefined if nothing is. Not called for an empty one. */
  readonly check: (answer: string) => string | undefined;
}

/** Asks the questions of `init`. */
export interface Asker {
  /** Whether somebody chooses: otherwise all answers are defaults. */
  readonly isPerson: boolean;
  /** Undefined for no answer. @throws StoppedError if the person or the process stops */
  text(question: TextQuestion): Promise<string | undefined>;
  /** The same, without showing what is typed. */
  secret(question: Omit<TextQuestion, 'fallback'>): Promise<string | undefined>;
  choose<Value extends string>(question: Choice<Value>): Promise<Value>;
  /** Shows something the person should know before the next question. */
  tell(text: string): void;
}

/** Answers every question with its default: there is nobody to ask. */
export const defaultsAsker: Asker = {
  isPerson: false,
  text: async ({ fallback }) => fallback,
  secret: async () => undefined,
  choose: async ({ fallback }) => fallback,
  tell: () => {},
};

interface TerminalStreams {
  readonly input: Readable;
  /** Standard error: standard output is for programs. */
  readonly output: Writable;
  /** Aborts when the process is asked to stop. */
  readonly signal: AbortSignal;
}

/** Asks a person on a terminal. */
export function createTerminalAsker({ input, output, signal }: TerminalStreams): Asker {
  /** A prompt handles Ctrl-C, but would wait for ever on a signal, on Ctrl-D or without its terminal. */
  async function ask<Answer>(
    prompt: (streams: TerminalStreams) => Promise<Answer | symbol>,
  ): Promise<Answer> {
    const gone = new AbortController();
    const stop = () => gone.abort(signal.aborted ? signal.reason : new StoppedError('SIGHUP'));
    if (signal.aborted || input.readableEnded || input.destroyed) stop();
    signal.addEventListener('abort', stop, { once: true });
    const stopAtCtrlD = (_: string, key: Key) => {
      if (key.ctrl && key.name === 'd') gone.abort(new StoppedError('SIGINT'));
    };
    input.once('end', stop).once('close', stop).on('keypress', stopAtCtrlD);
    try {
      gone.signal.throwIfAborted();
      const answer = await prompt({ input, output, signal: gone.signal });
      gone.signal.throwIfAborted();
      if (isCancel(answer) || typeof answer === 'symbol') throw new StoppedError('SIGINT');
      return answer;
    } finally {
      signal.removeEventListener('abort', stop);
      input.off('end', stop).off('close', stop).off('keypress', stopAtCtrlD);
    }
  }

  const checkWritten = (check: (answer: string) => string | undefined) => (answer: string | undefined) => {
    const problem = answer === undefined || answer.trim() === '' ? undefined : check(answer.trim());
    return problem === undefined ? undefined : makeVisible(problem);
  };
  const readWritten = (answer: string | undefined) => answer?.trim() || undefined;

  return {
    isPerson: true,
    async text({ message, fallback, check }) {
      const words = fallback === undefined ? undefined : showInLine(fallback);
      const shown = words === undefined ? {} : { placeholder: words, defaultValue: words };
      const answer = await ask<string>((streams) =>
        text({ message: makeVisible(message), validate: checkWritten(check), ...shown, ...streams }),
      );
      const written = readWritten(answer) ?? words;
      return written === words ? fallback : written;
    },
    async secret({ message, check }) {
      return readWritten(
        await ask<string>((streams) =>
          password({ message: makeVisible(message), validate: checkWritten(check), ...streams }),
        ),
      );
    },
    async choose({ message, choices, fallback }) {
      const options = choices.map(({ value, label }) => ({ value, label: showInLine(label) }));
      const picked = await ask<string>((streams) =>
        select<string>({ message: makeVisible(message), options, initialValue: fallback, ...streams }),
      );
      return choices.find(({ value }) => value === picked)?.value ?? fallback;
    },
    tell: (said) => log.info(makeVisible(said), { output }),
  };
}
