/** A question for a line of text. An empty answer means the default, or nothing where there is none. */
export interface TextQuestion {
  readonly message: string;
  readonly fallback?: string | undefined;
  /** What is wrong with an answer that is not empty; undefined when nothing is. */
  readonly check: (answer: string) => string | undefined;
}

export interface ChoiceQuestion<Choice extends string> {
  readonly message: string;
  readonly choices: readonly { readonly value: Choice; readonly label: string }[];
  readonly fallback: Choice;
}

/** Who answers the questions of `init`. */
export interface Asker {
  /** Whether a default, where it is the answer, was somebody's choice. */
  readonly isPerson: boolean;
  /** Undefined for no answer. @throws StoppedError when the person, or the process, wants to stop */
  text(question: TextQuestion): Promise<string | undefined>;
  /** The same; what is typed is not shown. */
  secret(question: Omit<TextQuestion, 'fallback'>): Promise<string | undefined>;
  choose<Choice extends string>(question: ChoiceQuestion<Choice>): Promise<Choice>;
  /** Something that the person should know before the next question. */
  tell(text: string): void;
}

/** Where there is nobody to ask, every answer is the default. */
export const defaultsAsker: Asker = {
  isPerson: false,
  text: async ({ fallback }) => fallback,
  secret: async () => undefined,
  choose: async ({ fallback }) => fallback,
  tell: () => {},
};
