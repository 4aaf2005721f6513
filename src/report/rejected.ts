import type { Reject } from '../review/collected.js';

/** One rejected record, as `rejected --json` and `--csv` write it. */
export interface RejectedRecord {
  readonly place: number;
  readonly reason: string;
  readonly reference: string | null;
  readonly field: string | null;
  readonly value: string | null;
}

export const rejectedColumns = ['place', 'reason', 'reference', 'field', 'value'] as const;

export function toRejectedRecord({ place, reason, reference, field, value }: Reject): RejectedRecord {
  return { place, reason, reference: reference ?? null, field: field ?? null, value: value ?? null };
}
