import { createInterface } from 'node:readline';
import { type Readable, Writable } from 'node:stream';
import { print, showInLine } from '../../base/foreign-text.js';
import { wrapText } from '../../base/format.js';
import { StoppedError } from '../../base/stopped-error.js';
import type { Choice } from '../../sources/common/setup.js';

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
  const say = (text: string) => void print(output, wrapLines(text));

  /** Asks until there is no answer, or nothing is wrong with it. */
  async function ask({ message, fallback, check }: TextQuestion, isSecret = false): Promise<string> {
    const usual = fallback === undefined ? '' : ` [${showInLine(fallback)}]`;
    for (;;) {
      const answer = (await readLine(`${message}${usual}\n`, isSecret)).trim();
      const problem = answer === '' ? undefined : check(answer);
      if (problem === undefined) return answer;
      say(`  ${problem}\n`);
    }
  }

  function readLine(words: string, isSecret: boolean): Promise<string> {
    const explainEnd = () => {
      if (signal.aborted) return signal.reason;
      return new StoppedError(input.readableEnded || input.destroyed ? 'SIGHUP' : 'SIGINT');
    };
    if (signal.aborted || input.readableEnded || input.destroyed) return Promise.reject(explainEnd());
    return new Promise((resolve, reject) => {
      // The terminal no longer echoes from here on: what is typed is shown by `line`, unless it is a secret.
      const line = createInterface({ input, output: isSecret ? createSink() : output, terminal: true });
      const close = () => line.close();
      signal.addEventListener('abort', close, { once: true });
      input.once('close', close);
      // Ctrl-D closes it by itself.
      line.once('SIGINT', close);
      line.once('line', (answer) => {
        resolve(answer);
        close();
      });
      line.once('close', () => {
        signal.removeEventListener('abort', close);
        input.off('close', close);
        say('\n');
        reject(explainEnd());
      });
      say(words);
      line.setPrompt('> ');
      line.prompt();
    });
  }

  return {
    isPerson: true,
    async text(question) {
      return (await ask(question)) || question.fallback;
    },
    async secret(question) {
      return (await ask(question, true)) || undefined;
    },
    async choose({ message, choices, fallback }) {
      const list = choices.map(({ label }, index) => `\n  ${index + 1}  ${showInLine(label)}`).join('');
      const answer = await ask({
        message: `${message}${list}\nNumber`,
        fallback: String(choices.findIndex(({ value }) => value === fallback) + 1),
        check: (written) =>
          choices[Number(written) - 1] ? undefined : `expected a number from 1 to ${choices.length}`,
      });
      return choices[Number(answer) - 1]?.value ?? fallback;
    },
    tell: (said) => say(`${said}\n\n`),
  };
}

/** Each line keeps its indent. */
export function wrapLines(text: string): string {
  const wrap = (line: string) => (line.trim() === '' ? [''] : wrapText(line, line.search(/\S/)));
  return text.split('\n').flatMap(wrap).join('\n');
}

/** Where what must not be seen goes. */
function createSink(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}
