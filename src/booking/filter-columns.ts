/** What a column of `source.where` held on a day, and what of it was left out. */
export interface FilterColumn {
  readonly column: string;
  /** What the setting said, as JSON: what it left out is compared only with days of the same setting. */
  readonly condition: string;
  /** Whether it lists words, such as those of a state. */
  readonly isOfWords: boolean;
  /** Records that it takes; another column may leave them out. */
  readonly taken: number;
  readonly leftOut: number;
  /** The most frequent first; absent for guests' names, and for a column of many or long values. */
  readonly values?: readonly FilterValue[];
}

/** A value of such a column, in the spelling that came first; empty for a missing one. */
export interface FilterValue {
  readonly value: string;
  readonly records: number;
  readonly isTaken: boolean;
  /** By the setting. */
  readonly isNamed: boolean;
}

/** What was odd about a column of `source.where`, compared with earlier days. */
export type FilterWarning =
  | { readonly kind: 'new-value'; readonly column: string; readonly value: FilterValue }
  | {
      readonly kind: 'none-left-out' | 'few-left-out';
      readonly column: string;
      readonly leftOut: number;
      readonly usual: number;
    };

/** What a run found out about `source.where`. */
export interface FilterReport {
  readonly columns: readonly FilterColumn[];
  readonly warnings: readonly FilterWarning[];
}

export interface DayFilters {
  /** YYYY-MM-DD */
  readonly day: string;
  readonly columns: readonly FilterColumn[];
}
