import { wrapText } from '../../base/format.js';

/** What doctor checks, in the order of its report. */
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
  'mappings',
  'verdicts',
  'notify',
  'users',
  'keys',
  'disk',
] as const;

export type Part = (typeof parts)[number];

/** `warning`: a run works, but a person should look at this. `wrong`: a run would fail. */
type FindingVerdict = 'ok' | 'warning' | 'wrong';

/** One result of a check. It holds no secret, no guest's name, and nothing the service said. */
export interface Finding {
  readonly part: Part;
  readonly verdict: FindingVerdict;
  /** What was tried, and the outcome. Lists take several lines. */
  readonly message: string;
  /** What to do about it. */
  readonly advice?: string;
}

/** Creates the findings of one part. */
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

const verdictWidth = 'warning'.length + 2;
const partWidth = Math.max(...parts.map((part) => part.length)) + 2;
const messageColumn = verdictWidth + partWidth;

/** A finding for people, in 80 columns: verdict, part and message, with the advice below. */
export function renderFinding({ part, verdict, message, advice }: Finding): string {
  const lines = message.split('\n').flatMap((line) => wrapText(line, messageColumn));
  const [first = '', ...others] = lines;
  const head = `${verdict.padEnd(verdictWidth)}${part.padEnd(partWidth)}${first.trimStart()}`;
  const below = advice === undefined ? [] : wrapText(advice, messageColumn + 2);
  return [head, ...others, ...below].join('\n');
}

/** The last line: how many of each verdict, and what is wrong. */
export function renderCount(findings: readonly Finding[]): string {
  const count = (wanted: FindingVerdict) => findings.filter(({ verdict }) => verdict === wanted).length;
  const warnings = count('warning');
  const wrongParts = new Set(findings.filter(({ verdict }) => verdict === 'wrong').map(({ part }) => part));
  const which = wrongParts.size > 0 ? `: ${[...wrongParts].join(', ')}` : '';
  return `${count('ok')} ok, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}, ${count('wrong')} wrong${which}`;
}
