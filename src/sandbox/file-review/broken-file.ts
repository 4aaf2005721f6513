/** Where a file breaks a rule, and which. What stands there may be a guest's name, so it is not told. */
export interface RuleBreak {
  /** What the rule wants. */
  readonly rule: string;
  /** Counted from 1, the header's line included. */
  readonly line: number;
  /** As the template names it; undefined where the rule is not one of a column. */
  readonly column?: string | undefined;
}

/** A review file that breaks a file rule. (Spec 4.3.) */
export class BrokenFile extends Error {
  override readonly name = 'BrokenFile';

  constructor({ rule, line, column }: RuleBreak) {
    super(`${column === undefined ? 'line' : `column ${column}, line`} ${line}: ${rule}`);
  }
}
