import { createInterface } from 'node:readline';
import { type Readable, Writable } from 'node:stream';
import { print, showInLine } from '../../base/foreign-text.js';
import { wrapText } from '../../base/format.js';
import { StoppedError } from '../../base/safe-error.js';

interface Question {
  readonly message: string;
  /** The answer that an empty line stands for. */
  readonly fallback?: string | undefined;
  /** What is wrong with an answer; undefined if nothing is. */
  readonly check: (answer: string) => string | undefined;
  /** Whether what is typed must not be seen. */
  readonly isSecret?: boolean;
}

/** Asks a person on a terminal. Each question fails with a StoppedError if the person or the process stops. */
export type Asker = ReturnType<typeof createAsker>;

/**
 * @param output standard error: standard output is for programs
 * @param signal aborts when the process is asked to stop
 */
export function createAsker(input: Readable, output: Writable, signal: AbortSignal) {
  const say = (text: string) => void print(output, wrapLines(text));

  /** Asks until nothing is wrong with the answer. */
  async function ask({ message, fallback = '', check, isSecret = false }: Question): Promise<string> {
    const usual = fallback === '' ? '' : ` [${showInLine(fallback)}]`;
    for (;;) {
      const answer = (await readLine(`${message}${usual}\n`, isSecret)).trim() || fallback;
      const problem = check(answer);
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

  /** Asks for one of these values, by its number. */
  async function choose<Value extends string>(
    message: string,
    choices: Readonly<Record<Value, string>>,
    fallback: NoInfer<Value>,
  ): Promise<Value> {
    const values = Object.keys(choices) as Value[];
    const list = values.map((value, index) => `\n  ${index + 1}  ${showInLine(choices[value])}`).join('');
    const answer = await ask({
      message: `${message}${list}\nNumber`,
      fallback: String(values.indexOf(fallback) + 1),
      check: (written) =>
        values[Number(written) - 1] ? undefined : `expected a number from 1 to ${values.length}`,
    });
    return values[Number(answer) - 1] as Value;
  }

  return { ask, choose };
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
