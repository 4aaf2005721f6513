import type { Answers, SftpAnswers } from '../../src/checks/setup/answers.js';
import type { Asker } from '../../src/checks/setup/asker.js';
import type { FileAnswers } from '../../src/sources/files/setup.js';
import type { HttpAnswers } from '../../src/sources/http/setup.js';
import type { ModuleAnswers } from '../../src/sources/module/setup.js';
import type { SqlAnswers } from '../../src/sources/sql/setup.js';

/** The answers for any kind of source. */
export type SourceAnswers = FileAnswers | SqlAnswers | HttpAnswers | ModuleAnswers;
export type KnownAnswers = Omit<Answers, 'source'> & { readonly source: SourceAnswers };

/** An SFTP server about which nothing is known. */
export const server: SftpAnswers = {
  host: undefined,
  port: undefined,
  username: undefined,
  keyFile: undefined,
};

/** The answers of someone who knows nothing yet, except these. */
export function answer(known: Partial<KnownAnswers> = {}): KnownAnswers {
  return {
    timezone: 'Europe/Madrid',
    baseUrl: undefined,
    source: { kind: 'csv', path: 'exports/bookings-{day}.csv' },
    delivery: known.sftp ? 'file' : 'body',
    sftp: undefined,
    secrets: {},
    ...known,
  };
}

/**
 * A person who answers a question by the first of these words that occurs in it, or else takes the default. If an answer is
 * rejected, the question is asked again and takes the next one of its list.
 */
export function createScriptedAsker(script: Readonly<Record<string, string | readonly string[]>>) {
  const asked: string[] = [];
  const refused: string[] = [];
  const reported: string[] = [];
  const find = (message: string): readonly string[] => {
    asked.push(message);
    const [, answers = []] = Object.entries(script).find(([word]) => message.includes(word)) ?? [];
    return typeof answers === 'string' ? [answers] : answers;
  };
  const type = (message: string, check: (text: string) => string | undefined): string | undefined => {
    for (const typed of find(message)) {
      const complaint = check(typed);
      if (complaint === undefined) return typed;
      refused.push(complaint);
    }
    return undefined;
  };
  const asker: Asker = {
    isPerson: true,
    text: async ({ message, fallback, check }) => type(message, check) ?? fallback,
    secret: async ({ message, check }) => type(message, check),
    choose: async ({ message, choices, fallback }) => {
      const [wanted] = find(message);
      return choices.find(({ value }) => value === wanted)?.value ?? fallback;
    },
    tell: (text) => reported.push(text),
  };
  return { asker, asked, refused, reported };
}
