/** Where a step's trouble came from: few enough words for a label. */
export type CodeClass = 'http-4xx' | 'http-5xx' | 'service' | 'result' | 'sftp' | 'local' | 'connection';

const families: readonly (readonly [RegExp, CodeClass])[] = [
  [/^http-4/, 'http-4xx'],
  [/^http-5/, 'http-5xx'],
  // An answer that came, and was no clear yes.
  [/^(?:http|code|status)-|^unreadable-answer$/, 'service'],
  [/^result-/, 'result'],
  [/^sftp-/, 'sftp'],
  [/^(?:archive|local)-/, 'local'],
];

/** The class of an evidence's code; what is in no other is the connection to the service. */
export function nameCodeClass(code: string): CodeClass {
  return families.find(([pattern]) => pattern.test(code))?.[1] ?? 'connection';
}
