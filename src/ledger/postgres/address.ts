import { LedgerUnusableError } from '../../review/ledger.js';

/** The address as it may be shown: the password is taken out, wherever it stands. */
export function placeOf(url: string): string {
  const parsed = parse(url);
  parsed.password = '';
  for (const name of [...parsed.searchParams.keys()]) {
    if (/pass|secret|token|key/i.test(name)) parsed.searchParams.delete(name);
  }
  return parsed.href;
}

function parse(url: string): URL {
  // No cause: what the parser throws holds the whole text.
  if (!URL.canParse(url)) {
    throw new LedgerUnusableError(
      'postgres://…',
      'expected an address such as postgres://user:password@host:5432/database, got: one that cannot be read; write characters such as @ and / in a password as %40 and %2F',
    );
  }
  return new URL(url);
}
