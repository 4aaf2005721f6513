/** What a record of an e-mail says about the mapping of its booking. */
export type Statement = 'incorrect' | 'correct' | 'unclear';

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

/** What belongs together in an e-mail: a row of a table, a block of labelled values, or a line. */
export interface MailRecord {
  readonly cells: readonly MailCell[];
  /** True for a row or a block, false for a line of prose. */
  readonly isStructured: boolean;
  readonly statement?: Statement | undefined;
  /** A title such as "Incorrect mappings": what it says holds for the records that follow and say nothing themselves. */
  readonly opens?: 'correct' | 'incorrect' | undefined;
}

/** Gives the records below a title what it says. */
export function applyTitles(records: readonly MailRecord[]): MailRecord[] {
  let title: Statement | undefined;
  return records.map((record) => {
    title = record.opens ?? title;
    return title === undefined || record.statement !== undefined ? record : { ...record, statement: title };
  });
}
