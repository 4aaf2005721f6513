/** What the doctor looks at, in the order in which it tells of it. */
export const parts = [
  'configuration',
  'file-modes',
  'clock',
  'source',
  'service',
  'sftp',
  'ledger',
  'queue',
  'archive',
  'spool',
  'disk',
] as const;

export type Part = (typeof parts)[number];

/** `warning`: a run works, and a person should look at it. `wrong`: a run would fail. */
export type FindingVerdict = 'ok' | 'warning' | 'wrong';

/** One thing that the doctor found out. Holds no secret, no guest's name, and no words of the service. */
export interface Finding {
  readonly part: Part;
  readonly verdict: FindingVerdict;
  /** What was tried and what came of it; of several lines where something is listed. */
  readonly message: string;
  /** What to do about it. */
  readonly advice?: string;
}

/** Makes the findings of one part. */
export function findingsOf(part: Part) {
  const make =
    (verdict: FindingVerdict) =>
    (message: string, advice?: string): Finding => ({
      part,
      verdict,
      message,
      ...(advice !== undefined && { advice }),
    });
  return { ok: make('ok'), warning: make('warning'), wrong: make('wrong') };
}
