// Uploads a file as a run does: connect, upload, compare, rename into place. Tells how long that took in this process, its own
// start left out, as JSON: `upload.mjs SETTINGS.json`.
import { readFileSync } from 'node:fs';
import { createSftpServer } from '../../dist/src/sftp/server.js';

const { login, file, bytes } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const started = performance.now();
const session = await createSftpServer(login).connect({ signal: new AbortController().signal });
await session.upload(file, 'day.part');
await session.publish('day.part', 'day.csv', bytes);
await session.close();
console.log(JSON.stringify({ seconds: (performance.now() - started) / 1000 }));
