import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { request as openRequest } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import {
  callService,
  createFolder,
  isListening,
  putReviewFile,
  renderReviewFile,
  type SandboxCommand,
  startSandboxCommand,
} from '../support/sandbox-command.js';

/** Starts a call by body and resolves once the sandbox handles it. The outcome follows later. */
async function beginCall({ addresses: { service } }: SandboxCommand): Promise<{ outcome: Promise<unknown> }> {
  const { baseUrl, apiKey: apikey, accountId } = service;
  const request = openRequest(`${baseUrl}/hotels/ReviewMappingsOfBookedHotels`, {
    method: 'POST',
    headers: { apikey, accountId, 'Content-Type': 'application/json', Expect: '100-continue' },
  });
  const outcome = once(request, 'response').then(
    () => 'answered',
    ({ code }) => code,
  );
  await once(request, 'continue');
  request.end(JSON.stringify({ Hotels: [{ ServiceId: 17 }] }));
  return { outcome };
}

it.each(['SIGINT', 'SIGTERM'] as const)(
  '%s ends the sandbox with exit code 0 despite a hanging call, a silent client and a pending result',
  async (signal) => {
    const folder = await createFolder();
    const sandbox = await startSandboxCommand(folder, '--fault', 'hang@2', '--result-delay', '3600');
    const { sftp, service } = sandbox.addresses;
    await putReviewFile(sandbox.addresses, renderReviewFile());
    const answer = await callService(sandbox.addresses);
    expect(await answer.json()).toMatchObject({ Status: true });
    const { outcome } = await beginCall(sandbox);
    const silent = connect(sftp.port, sftp.host).on('error', () => {});
    onTestFinished(() => {
      silent.destroy();
    });
    await once(silent, 'data');

    sandbox.kill(signal);
    const { exitCode, stdout } = await sandbox.ended;
    expect(exitCode).toBe(0);
    expect(await outcome).toBe('ECONNRESET');
    expect(stdout.trimEnd().split('\n')).toHaveLength(1);
    const abandoned = sandbox.events.filter((line) => line.endsWith('20112026_Result.csv: abandoned'));
    expect(abandoned).toHaveLength(1);
    expect(sandbox.events.join('\n')).not.toMatch(/^ {4}at /m);
    expect(await readdir(join(sftp.root, 'VerifyMappings/112026'))).toEqual(['20112026.csv']);
    expect((await readdir(folder)).sort()).toEqual(['host-key', 'outbox', 'sandbox.yaml', 'sftp']);
    for (const port of [sftp.port, Number(new URL(service.baseUrl).port)])
      expect(await isListening(port)).toBe(false);
  },
);
