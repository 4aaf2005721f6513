// Uploads a file like a run: connect, upload, compare, rename into place. Prints the duration in this process as JSON,
// without its start: `upload.ts SETTINGS.json`.
import { readFileSync } from 'node:fs';
import { createSftpServer } from '../../src/transports/sftp/server.js';

const { login, file, bytes } = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));
const started = performance.now();
const session = await createSftpServer(login).connect({ signal: new AbortController().signal });
await session.upload(file, 'day.part');
await session.publish('day.part', 'day.csv', bytes);
await session.close();
console.log(JSON.stringify({ seconds: (performance.now() - started) / 1000 }));
