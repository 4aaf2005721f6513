import { wrapText } from '../text/format.js';
import { type Finding, type FindingVerdict, parts } from './finding.js';

const verdictWidth = 'warning'.length + 2;
const partWidth = Math.max(...parts.map((part) => part.length)) + 2;
const messageColumn = verdictWidth + partWidth;

/** A finding for people, in lines of 80 columns: verdict, part, message, and the advice below it. */
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
