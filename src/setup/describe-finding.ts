import type { Finding } from '../examination/finding.js';
import { wrapText } from '../text/format.js';

/** Where a question's bar stands on a terminal. */
const barWidth = 3;

/** A finding on the way through the questions: a record a line, beside the bar of a terminal of 80 columns. */
export function describeFinding({ verdict, message, advice = '' }: Finding): string {
  const [first = '', ...others] = message.split('\n');
  const head = verdict === 'ok' ? first : `${verdict}: ${first}`;
  return [...wrapBeside(head, 0), ...[...others, advice].flatMap((line) => wrapBeside(line, 2))].join('\n');
}

function wrapBeside(text: string, indent: number): string[] {
  return wrapText(text, indent + barWidth).map((line) => line.slice(barWidth));
}
