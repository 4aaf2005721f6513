import Libsql from 'libsql';

/**
 * Functions that the driver brings along, and that reach beyond the database: files of this machine, and statements that
 * are written as texts. Opened to be read only, the database forbids none of them.
 */
const reaching: readonly string[] = ['load_extension', 'readfile', 'sha3_query', 'writefile'];

/** In the program of a statement, what calls a function, whose name then stands before a parenthesis. */
const calls: readonly string[] = ['Function', 'PureFunc'];

/**
 * The first of them that a statement could call, read from the program that SQLite makes of it: no quotes, no view hides it
 * there. Nothing of it is run. Over a connection of its own: one that has explained a statement keeps what is read
 * afterwards locked.
 *
 * @param address the file's, as the driver takes it
 * @param text a SELECT that can be prepared
 * @param busyTimeoutMs how long a writer that holds the file is waited for
 */
export function findReachingFunction(
  address: string,
  text: string,
  busyTimeoutMs: number,
): string | undefined {
  const connection = new Libsql(address);
  try {
    connection.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    for (const row of connection.prepare(`EXPLAIN ${text}`).all([])) {
      const { opcode, p4 } = row as { readonly opcode: unknown; readonly p4: unknown };
      const name = calls.includes(String(opcode)) ? String(p4).replace(/\(.*$/, '').toLowerCase() : '';
      if (reaching.includes(name)) return name;
    }
    return undefined;
  } finally {
    connection.close();
  }
}
