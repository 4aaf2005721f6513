import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { startCommand } from '../support/command.js';
import { day } from '../support/day-folder.js';
import { expectNoLeak } from '../support/leaks.js';
import { startProgram } from '../support/program.js';
import {
  type Addresses,
  command,
  createFolder,
  isListening,
  makeDayIn,
  runIn,
  startSandboxCommand,
  sumTold,
} from '../support/sandbox-command.js';

const env = { PATH: process.env.PATH };

async function readConfiguration(path: string) {
  const { service, file } = parseYaml(await readFile(path, 'utf8')) as {
    service: { baseUrl: string };
    file: { sftp: { port: number; hostKey: string } };
  };
  return { baseUrl: service.baseUrl, port: file.sftp.port, hostKey: file.sftp.hostKey };
}

const portsOf = ({ service, sftp }: Addresses) => [sftp.port, Number(new URL(service.baseUrl).port)];

it('a sandbox reviews a day, its e-mails are read, it stops whoever is connected, and it is the same host when it is started again', async () => {
  const folder = await createFolder();
  const sandbox = await startSandboxCommand(folder, '--result-delay', '0');
  const { addresses } = sandbox;
  expect(addresses).toMatchObject({
    service: { baseUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/api\/3\.0$/) },
    sftp: { host: '127.0.0.1', root: join(folder, 'sftp') },
    ...{ outbox: join(folder, 'outbox', 'new'), folder, configuration: join(folder, 'sandbox.yaml') },
  });
  expect((await stat(addresses.configuration)).mode & 0o777).toBe(0o600);
  const written = await readConfiguration(addresses.configuration);
  expect([written.port, written.hostKey]).toEqual([addresses.sftp.port, addresses.sftp.fingerprint]);

  const config = ['--config', 'sandbox.yaml'];
  const { bookings, wrongReferences } = await makeDayIn(folder, '--count', '300');
  const run = await runIn(folder, 'run', '--day', day, '--delivery', 'file', ...config, '--json');
  expect({ exitCode: run.exitCode, state: run.report.state }).toEqual({ exitCode: 0, state: 'succeeded' });
  expect(sumTold(sandbox).accepted).toBe(bookings);

  const serve = startCommand(['serve', '--port', '0', ...config], { cwd: folder, env });
  onTestFinished(() => serve.kill('SIGKILL'));
  await serve.wrote('"mail":1,');
  serve.kill('SIGTERM');
  expect((await serve.ended).exitCode).toBe(0);
  const { json } = await runIn(folder, 'verdicts', 'list', ...config, '--json');
  expect(json).toMatchObject({ emails: [{ from: join(folder, 'outbox'), outcome: 'named' }] });
  const shown = await runIn(folder, 'show', wrongReferences[0] ?? '', ...config);
  expect(shown.stdout).toContain('its mapping is incorrect');

  const silent = connect(addresses.sftp.port, addresses.sftp.host).on('error', () => {});
  onTestFinished(() => void silent.destroy());
  await once(silent, 'data');
  sandbox.kill('SIGTERM');
  const ended = await sandbox.ended;
  expect(ended.exitCode).toBe(0);
  expectNoLeak('the output of the sandbox', ended.stdout + ended.stderr);
  for (const port of portsOf(addresses)) expect(await isListening(port)).toBe(false);

  const again = startProgram(process.execPath, [command, 'sandbox', '--folder', folder], {
    cwd: folder,
    env,
  });
  onTestFinished(() => again.kill('SIGKILL'));
  await again.until(({ stdout }) => stdout.includes('sandbox.yaml\n'));
  const after = await readConfiguration(addresses.configuration);
  expect(after.hostKey).toBe(written.hostKey);
  again.kill('SIGINT');
  expect(await again.ended).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/^The sandbox is running; Ctrl-C stops it\.\n[\s\S]*stopped after 0 calls/),
    stderr: '\nSIGINT: stopping; send the signal again to stop at once\n',
  });
});
