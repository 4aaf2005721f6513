import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { FileServiceMessage } from './start-file-service.js';
import { writeResult } from './write-result.js';

/**
 * The service in its own process, `file-service.ts SERVED_FOLDER`: answers the by-file call once the result is complete,
 * so that no contestant's time depends on polling, and reports how long that took.
 */
const [servedFolder = ''] = process.argv.slice(2);
let busySeconds = 0;

const server = createServer(async (request, response) => {
  const started = performance.now();
  const path = new URL(request.url ?? '', 'http://service').searchParams.get('ftpFilePath');
  request.resume();
  if (path !== null) await writeResult(join(servedFolder, path));
  busySeconds += (performance.now() - started) / 1000;
  response
    .writeHead(200, { 'Content-Type': 'application/json' })
    .end(JSON.stringify({ Status: true, Message: 'Success', StatusCode: 2000 }));
});

const send = (message: FileServiceMessage) => process.send?.(message);
// The question is how long it worked since the last question.
process.on('message', () => {
  send({ kind: 'worked', seconds: busySeconds });
  busySeconds = 0;
});
process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () =>
  send({ kind: 'listening', port: (server.address() as AddressInfo).port }),
);
