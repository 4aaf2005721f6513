/** Whether a text is written like a business day. It becomes part of a file's name. */
export function isDay(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text);
}
