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
  /**
   * A title such as "Incorrect mappings" or a sentence such as "All mappings are correct": what it says holds for the records that
   * follow and say nothing themselves. `nothing` ends what an earlier one said.
   */
  readonly opens?: Statement | 'nothing' | undefined;
}

/**
 * Applies what a title says to the records below it. A sentence that calls everything correct makes a verdict unclear
 * wherever it is, unless something else in the same text is called incorrect.
 *
 * @param above what the subject, or the text to which this is attached, says
 */
export function applyTitles(records: readonly MailRecord[], above?: Statement): MailRecord[] {
  let title: Statement | undefined = above;
  const titled = records.map((record) => {
    if (record.opens !== undefined) title = record.opens === 'nothing' ? undefined : record.opens;
    return title === undefined || record.statement !== undefined ? record : { ...record, statement: title };
  });
  return isAllClear(records)
    ? titled.map((record) => (record.statement === undefined ? { ...record, statement: 'unclear' } : record))
    : titled;
}

/** Whether a text calls everything that it lists correct, and nothing incorrect. */
export function isAllClear(records: readonly MailRecord[]): boolean {
  const isAccusing = records.some(
    ({ statement, opens }) => statement === 'incorrect' || opens === 'incorrect' || opens === 'nothing',
  );
  return !isAccusing && records.some(({ opens }) => opens === 'unclear');
}
