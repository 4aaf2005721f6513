import { readFileSync } from 'node:fs';
import autocannon from 'autocannon';

/**
 * Posts bodies with autocannon: `autocannon.ts URL BODIES CONNECTIONS`, where BODIES is a file with one body per line. Each
 * is posted once, on any free connection; answers are discarded.
 */
const [url = '', path = '', connections = ''] = process.argv.slice(2);
const bodies = readLines(readFileSync(path));
let next = 0;

const result = await autocannon({
  url,
  connections: Number(connections),
  amount: bodies.length,
  requests: [
    {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json',
        apikey: 'k',
        accountId: 'a',
      },
      setupRequest(request) {
        next += 1;
        return { ...request, body: bodies[next - 1] ?? Buffer.alloc(0) };
      },
    },
  ],
});
if (result['2xx'] !== bodies.length) {
  throw new Error(`expected ${bodies.length} successes, got: ${result['2xx']} (${result.errors} errors)`);
}

function readLines(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(0x0a, start);
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return lines;
}
