/** The note of a setting that nobody knew; undefined where it is known. */
export function mark(answer: unknown, what: string): string | undefined {
  return answer === undefined ? `PLACEHOLDER: put in ${what}.` : undefined;
}
