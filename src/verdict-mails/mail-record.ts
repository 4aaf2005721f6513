/** What a column with verdicts says about the mapping of its row's booking. */
export type Statement = 'incorrect' | 'correct';

/** What a heading or a label announces; undefined for anything else. */
export type HeadingKind = 'reference' | 'provider' | 'hotel' | 'service' | 'other' | VerdictKind;

/**
 * A column with verdicts: `correct` where a word for yes means that the mapping is correct, `incorrect` where it means the
 * opposite, `status` where the words alone decide.
 */
export type VerdictKind = 'correct' | 'incorrect' | 'status';

/** A cell of a table, the value of a label, or a line of text; several lines where the e-mail breaks it. */
export interface MailCell {
  readonly text: string;
  /** What its column's heading, or its label, announces. */
  readonly kind?: HeadingKind | undefined;
}

/** What belongs together in an e-mail: a row of a table, or a line of text. */
export interface MailRecord {
  readonly cells: readonly MailCell[];
  /** True for a row, false for a line. */
  readonly isStructured: boolean;
  /** Undefined where no column says anything that can be read. */
  readonly statement?: Statement | undefined;
}
