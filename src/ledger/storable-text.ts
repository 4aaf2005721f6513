/** PostgreSQL keeps no NUL character, and UTF-8 no lone surrogate: each becomes U+FFFD. */
export function toStorable(text: string): string {
  return text.includes('\0') ? text.toWellFormed().replaceAll('\0', '\ufffd') : text.toWellFormed();
}
