import { UsageError } from '../../base/usage-error.js';
import { findPasswordFault } from '../../storage/access/passwords.js';
import { createAsker } from './asker.js';

/** Far longer than any password. */
const longestInput = 10_000;

interface Streams {
  readonly stdin: NodeJS.ReadStream;
  readonly stderr: NodeJS.WriteStream;
}

/** Asks for a password twice, or reads it from standard input. @throws UsageError for one that is too weak */
export async function readNewPassword(name: string, streams: Streams, signal: AbortSignal): Promise<string> {
  const { stdin, stderr } = streams;
  const password =
    stdin.isTTY && stderr.isTTY ? await askTwice(name, streams, signal) : await readLine(stdin);
  const fault = findPasswordFault(password, name);
  if (fault !== undefined) throw new UsageError(`the password ${fault}; nothing was changed`);
  return password;
}

async function askTwice(name: string, { stdin, stderr }: Streams, signal: AbortSignal): Promise<string> {
  const { ask } = createAsker({ input: stdin, output: stderr, signal });
  const check = (answer: string) => {
    const fault = findPasswordFault(answer, name);
    return fault && `The password ${fault}.`;
  };
  const password = await ask({ message: `Password for ${name}`, check, isSecret: true });
  const again = await ask({ message: 'Repeat the password', check: () => undefined, isSecret: true });
  if (password !== again) throw new UsageError('the two passwords differ; nothing was changed');
  return password;
}

async function readLine(input: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  for await (const piece of input.setEncoding('utf8')) {
    text += piece;
    if (text.length > longestInput) break;
  }
  const [line = '', ...more] = text.split(/\r?\n/);
  if (more.some((other) => other !== ''))
    throw new UsageError('expected the password as one line of standard input, got: several');
  return line;
}
