import type { Run } from '../../rules/run.js';

/** Something of the guest that was removed or blanked, or would be. Without a run where nobody knows of which. */
interface ErasedPlace {
  readonly runId: string | null;
  readonly day: string | null;
  readonly place: 'ledger' | 'archive' | 'spool' | 'sftp';
  readonly name: string;
}

/** What was done; and what is left, and what to do about it. */
export interface Receipt {
  readonly erased: ErasedPlace[];
  readonly left: (Omit<ErasedPlace, 'name'> & { readonly why: string })[];
}

export const placeIn = ({ id, day }: Pick<Run, 'id' | 'day'>, place: ErasedPlace['place']) => ({
  runId: id,
  day,
  place,
});
