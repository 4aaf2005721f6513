import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { type Agent, type IncomingHttpHeaders, request as openRequest } from 'node:http';
import { fileURLToPath } from 'node:url';

export interface AskedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The client's timeout; 30 seconds by default. */
  readonly timeoutSeconds?: number;
}

/** What a client saw. */
export type Outcome =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly headers: IncomingHttpHeaders;
      readonly body: string;
    }
  /** The connection was closed before an answer came. */
  | { readonly kind: 'closed' }
  | { readonly kind: 'timed-out' };

export interface HttpClient {
  readonly name: string;
  /** What is missing on this machine and how to install it. */
  readonly needs: string | undefined;
  ask(request: AskedRequest): Promise<Outcome>;
}

const defaultTimeoutSeconds = 30;

/** Node's own client, not the one the product uses. */
export const nodeHttp: HttpClient = {
  name: 'node:http',
  needs: undefined,
  ask: (request) => askNode(request),
};

/** @param agent keeps connections; without it each request has one of its own */
export function askNode(asked: AskedRequest, agent: Agent | false = false): Promise<Outcome> {
  const { method, url, headers = {}, body, timeoutSeconds = defaultTimeoutSeconds } = asked;
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(timeoutSeconds * 1000);
    const request = openRequest(url, { method, headers, signal, agent }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () =>
        resolve({
          kind: 'answered',
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(parts).toString(),
        }),
      );
      response.on('error', reject);
    });
    request.on('error', (error) => {
      if (signal.aborted) resolve({ kind: 'timed-out' });
      else if ('code' in error && error.code === 'ECONNRESET') resolve({ kind: 'closed' });
      else reject(error);
    });
    request.end(body);
  });
}

const isThere = (program: string) => spawnSync(program, ['--version']).status === 0;

export const curl: HttpClient = {
  name: 'curl',
  needs: isThere('curl') ? undefined : 'needs curl: apt-get install curl',
  async ask({ method, url, headers = {}, body, timeoutSeconds = defaultTimeoutSeconds }) {
    const args = [
      // Without the user's settings or a proxy.
      ...['--disable', '--noproxy', '*', '--silent', '--show-error', '--include'],
      ...['--max-time', String(timeoutSeconds), '--request', method],
      ...Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]),
      ...(body === undefined ? [] : ['--data-binary', '@-']),
      url,
    ];
    const { exitCode, stdout, stderr } = await run('curl', args, body ?? '');
    // Exit codes of curl: 28 is a timeout, 52 an empty reply, 56 a broken connection.
    if (exitCode === 28) return { kind: 'timed-out' };
    if (exitCode === 52 || exitCode === 56) return { kind: 'closed' };
    if (exitCode !== 0) throw new Error(`curl ended with ${exitCode}: ${stderr}`);
    return readRawAnswer(stdout);
  },
};

/** Parses the output of `curl --include`. */
function readRawAnswer(text: string): Outcome {
  const [head = '', ...bodyParts] = text.split('\r\n\r\n');
  const [statusLine = '', ...headerLines] = head.split('\r\n');
  const headers = headerLines.map((line) => {
    const place = line.indexOf(':');
    return [line.slice(0, place).toLowerCase(), line.slice(place + 1).trim()] as const;
  });
  return {
    kind: 'answered',
    status: Number(statusLine.split(' ')[1]),
    headers: Object.fromEntries(headers),
    body: bodyParts.join('\r\n\r\n'),
  };
}

const urllibScript = fileURLToPath(new URL('ask-urllib.py', import.meta.url));

export const urllib: HttpClient = {
  name: "Python's urllib",
  needs: isThere('python3') ? undefined : 'needs python3: apt-get install python3',
  async ask(request) {
    const input = JSON.stringify({ timeoutSeconds: defaultTimeoutSeconds, ...request });
    const { exitCode, stdout, stderr } = await run('python3', [urllibScript], input);
    if (exitCode !== 0) throw new Error(`python3 ended with ${exitCode}: ${stderr}`);
    return JSON.parse(stdout);
  },
};

async function run(program: string, args: readonly string[], input: string) {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text;
  });
  // A client may exit without having read its input.
  child.stdin.on('error', () => {}).end(input);
  const [exitCode] = await once(child, 'close');
  return { exitCode: exitCode as number | null, ...output };
}
