import { join } from 'node:path';
import type { Questions } from '../../sources/common/setup.js';
import { checkAnswer, type SecretName, type Secrets } from './answers.js';
import type { Asker } from './asker.js';
import { checkDotEnvValue } from './dot-env.js';

export interface QuestionsParts {
  readonly asker: Asker;
  /** What `~/` stands for. */
  readonly home: string;
  /** False if there is a `.env` already: typed secrets could not be kept. */
  readonly asksSecrets: boolean;
  /** A secret that the environment or an existing `.env` has. */
  readonly known: (name: SecretName) => string | undefined;
}

/** Questions that can be asked again. Then options answer none of them, and the previous answers are the defaults. */
export interface RepeatableQuestions extends Questions {
  secret(
    question: Omit<Parameters<Questions['secret']>[0], 'secret'> & { readonly secret: SecretName },
  ): Promise<string | undefined>;
  keep(name: SecretName, value: string): void;
  /** The secrets that were typed or kept. */
  secrets(): Secrets;
  askAgain(): void;
}

/** Withdraws the previous answer; an empty line would repeat it. */
const none = '-';

export function createQuestions({ asker, home, asksSecrets, known }: QuestionsParts): RepeatableQuestions {
  const answered = new Map<string, string>();
  const secrets = new Map<SecretName, string>();
  let isRepeated = false;
  return {
    async text({ rule, message, given, fallback, isPath = false }) {
      const { name } = rule;
      if (given !== undefined && !isRepeated) {
        answered.set(name, given);
        return given;
      }
      const before = answered.get(name);
      const expand = (typed: string) =>
        isPath && typed.startsWith('~/') ? join(home, typed.slice(2)) : typed;
      const isWithdrawn = (typed: string) => typed === none && before !== undefined && fallback === undefined;
      const answer = await asker.text({
        message: before === undefined || fallback !== undefined ? message : `${message} – ${none} for none`,
        fallback: before ?? fallback,
        check: (typed) => (isWithdrawn(typed) ? undefined : checkAnswer(rule, expand(typed))),
      });
      if (answer === undefined || isWithdrawn(answer)) {
        answered.delete(name);
        return undefined;
      }
      answered.set(name, expand(answer));
      return expand(answer);
    },
    async choose(name, given, question) {
      if (given !== undefined && !isRepeated) {
        answered.set(name, given);
        return given;
      }
      const before = question.choices.find(({ value }) => value === answered.get(name));
      const choice = await asker.choose({ ...question, fallback: before?.value ?? question.fallback });
      answered.set(name, choice);
      return choice;
    },
    takeOption: (given) => (isRepeated ? undefined : given),
    known,
    async secret({ secret, rule, message }) {
      const present = known(secret);
      if (present !== undefined) return present;
      if (asksSecrets) {
        const check = (answer: string) => checkAnswer(rule, answer) ?? checkDotEnvValue(answer);
        const typed = await asker.secret({ message, check });
        if (typed !== undefined) secrets.set(secret, typed);
      }
      return secrets.get(secret);
    },
    keep: (name, value) => void secrets.set(name, value),
    secrets: () => Object.fromEntries(secrets),
    askAgain() {
      isRepeated = true;
    },
  };
}
