import { join } from 'node:path';
import { type AnswerName, checkAnswer, isAnswerName } from '../answers/check-answer.js';
import type { SecretName, Secrets } from '../answers/secrets.js';
import { checkDotEnvValue } from '../render/dot-env.js';
import type { Asker, ChoiceQuestion } from './asker.js';

export interface QuestionsParts {
  readonly asker: Asker;
  /** What `~/` stands for. */
  readonly home: string;
  /** False where `.env` is there already: what is typed could not be kept. */
  readonly asksSecrets: boolean;
  /** A secret that is there already: in the environment, or in a `.env` that is kept. */
  readonly known: (name: SecretName) => string | undefined;
}

export interface AskedText {
  /** An answer's, or that of something that is a part of one. */
  readonly name: AnswerName | 'sqlitePath' | 'headerName';
  readonly message: string;
  /** What an option says: then nobody is asked. */
  readonly given?: string | undefined;
  readonly fallback?: string | undefined;
  /** A shell writes out `~/`, a question doesn't. */
  readonly isPath?: boolean;
  /** In place of that of the setting. */
  readonly check?: (answer: string) => string | undefined;
}

export interface AskedSecret {
  readonly secret: SecretName;
  /** Whose check is its check. */
  readonly name: AnswerName;
  readonly message: string;
}

/** Questions of which each can be asked again: then options answer none of them, and what was answered is the default. */
export interface Questions {
  /** Undefined for no answer. */
  text(question: AskedText): Promise<string | undefined>;
  choose<Choice extends string>(
    name: string,
    given: Choice | undefined,
    question: ChoiceQuestion<Choice>,
  ): Promise<Choice>;
  /** What an option says, unless it is asked again. */
  takes<Given>(given: Given | undefined): Given | undefined;
  /** A secret that is there already. */
  known(name: SecretName): string | undefined;
  /** What is known already, or typed and not shown. */
  secret(question: AskedSecret): Promise<string | undefined>;
  /** Takes a secret that was told in another way. */
  keep(name: SecretName, value: string): void;
  /** What was typed or taken. */
  secrets(): Secrets;
  again(): void;
}

/** Takes an answer back. */
const none = '-';

export function createQuestions({ asker, home, asksSecrets, known }: QuestionsParts): Questions {
  const answered = new Map<string, string>();
  const secrets = new Map<SecretName, string>();
  let isAgain = false;
  return {
    async text({ name, message, given, fallback, isPath = false, check = checkOf(name) }) {
      if (given !== undefined && !isAgain) {
        answered.set(name, given);
        return given;
      }
      const before = answered.get(name);
      const meant = (typed: string) =>
        isPath && typed.startsWith('~/') ? join(home, typed.slice(2)) : typed;
      // An empty line takes the answer of before.
      const isTakenBack = (typed: string) => typed === none && before !== undefined && fallback === undefined;
      const answer = await asker.text({
        message: before === undefined || fallback !== undefined ? message : `${message} – ${none} for none`,
        fallback: before ?? fallback,
        check: (typed) => (isTakenBack(typed) ? undefined : check(meant(typed))),
      });
      if (answer === undefined || isTakenBack(answer)) {
        answered.delete(name);
        return undefined;
      }
      answered.set(name, meant(answer));
      return meant(answer);
    },
    async choose(name, given, question) {
      if (given !== undefined && !isAgain) {
        answered.set(name, given);
        return given;
      }
      const before = question.choices.find(({ value }) => value === answered.get(name));
      const choice = await asker.choose({ ...question, fallback: before?.value ?? question.fallback });
      answered.set(name, choice);
      return choice;
    },
    takes: (given) => (isAgain ? undefined : given),
    known,
    async secret({ secret, name, message }) {
      const there = known(secret);
      if (there !== undefined) return there;
      if (asksSecrets) {
        const check = (answer: string) => checkAnswer(name, answer) ?? checkDotEnvValue(answer);
        const typed = await asker.secret({ message, check });
        if (typed !== undefined) secrets.set(secret, typed);
      }
      return secrets.get(secret);
    },
    keep: (name, value) => void secrets.set(name, value),
    secrets: () => Object.fromEntries(secrets),
    again() {
      isAgain = true;
    },
  };
}

function checkOf(name: AskedText['name']): (answer: string) => string | undefined {
  return (answer) => (isAnswerName(name) ? checkAnswer(name, answer) : undefined);
}
