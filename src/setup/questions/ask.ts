import type { Key } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { isCancel, log, password, select, text } from '@clack/prompts';
import { StoppedError } from '../../async/stopped-error.js';
import type { Asker } from './asker.js';

interface TerminalStreams {
  readonly input: Readable;
  /** Standard error: standard output is for answers that programs read. */
  readonly output: Writable;
  /** Aborts when the process was asked to stop. */
  readonly signal: AbortSignal;
}

/** Asks a person on a terminal. */
export function createTerminalAsker({ input, output, signal }: TerminalStreams): Asker {
  /** A prompt knows Ctrl-C, but no signal, no Ctrl-D, and no terminal that went away: it would wait for ever. */
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

  const checkWritten = (check: (answer: string) => string | undefined) => (answer: string | undefined) =>
    answer === undefined || answer.trim() === '' ? undefined : check(answer.trim());
  const readWritten = (answer: string | undefined) => answer?.trim() || undefined;

  return {
    isPerson: true,
    async text({ message, fallback, check }) {
      const shown = fallback === undefined ? {} : { placeholder: fallback, defaultValue: fallback };
      const answer = await ask<string>((streams) =>
        text({ message, validate: checkWritten(check), ...shown, ...streams }),
      );
      return readWritten(answer) ?? fallback;
    },
    async secret({ message, check }) {
      return readWritten(
        await ask<string>((streams) => password({ message, validate: checkWritten(check), ...streams })),
      );
    },
    async choose({ message, choices, fallback }) {
      const picked = await ask<string>((streams) =>
        select<string>({ message, options: [...choices], initialValue: fallback, ...streams }),
      );
      return choices.find(({ value }) => value === picked)?.value ?? fallback;
    },
    tell: (said) => log.info(said, { output }),
  };
}
