import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { prepareDay } from '../../support/day-folder.js';
import { writeUsers } from '../../support/desk-visit.js';
import { openSocket } from './some-server.js';

/** Megabytes; a little more than `serve` needs to start. */
const smallHeap = { env: { NODE_OPTIONS: '--max-old-space-size=96' } };
const mostGrowth = 160;
const connections = 64;
const requestsEach = 600;

it.each([
  ['all at once', requestsEach],
  ['a few at a time', 16],
])(
  'pages that 64 callers ask for and never read, %s, stop neither probes nor the process',
  async (_, each) => {
    const { folder } = await prepareDay({ settings: { server: { users: 'users.json' } } });
    writeUsers(folder, { ada: 'admin' });
    const command = folder.start(['serve', '--port', '0'], smallHeap);
    await command.wrote('"serving"');
    const [, url = ''] = /"url":"([^"]+)"/.exec(command.stderr) ?? [];
    const isAlive = async () => (await fetch(`${url}/healthz`)).ok;
    const before = readMemory(command.pid);
    const page = 'GET /sign-in?to=/days HTTP/1.1\r\nhost: localhost\r\naccept: text/html\r\n\r\n';
    const open: Socket[] = [];
    let answered = 0;
    for (let round = 0; round * each < requestsEach; round += 1) {
      for (let caller = 0; caller < connections; caller += 1) {
        const known = open[caller];
        const socket = known && !known.destroyed ? known : (await openSocket(url)).on('error', () => {});
        open[caller] = socket;
        socket.write(page.repeat(each));
      }
      answered += Number(await isAlive());
    }
    for (let probe = 0; probe < 50; probe += 1) answered += Number(await isAlive());
    expect(answered).toBe(50 + Math.ceil(requestsEach / each));
    expect(readMemory(command.pid) - before).toBeLessThan(mostGrowth);
    command.kill('SIGTERM');
    expect((await command.ended).exitCode).toBe(0);
  },
);

/** The most that a process has used so far, in megabytes. */
function readMemory(pid: number): number {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}
