import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { account, startSandbox } from '../../src/sandbox/sandbox.js';
import { patienceMs } from '../support/patience.js';
import { filePath, templateColumns } from './reviewed-files.js';

it('removes the drafts of a killed sandbox', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sandbox-killed-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, '.sandbox-drafts'));
  await writeFile(join(folder, '.sandbox-drafts', '1.csv'), 'Ann Lee');
  const sandbox = await startSandbox({ folder, clock: Date.now });
  expect(await readdir(folder)).not.toContain('.sandbox-drafts');
  await sandbox.close();
});

it('aborts the review of a file when it is closed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sandbox-close-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const told: string[] = [];
  const sandbox = await startSandbox({ folder, clock: Date.now, tell: (line) => void told.push(line) });
  const input = join(sandbox.sftp.root, filePath);
  await mkdir(dirname(input), { recursive: true });
  const record = '1,BR-1,Ann Lee,Bedlink,BL-1,20112026,21112026\n';
  await writeFile(input, `${templateColumns.join(',')}\n${record.repeat(200_000)}`);

  const call = fetch(
    `${sandbox.service.baseUrl}/hotels/ReviewMappingsOfBookedHotelsByFile?ftpFilePath=${filePath}`,
    { headers: { apikey: account.apiKey, accountId: account.accountId } },
  );
  const unanswered = expect(call).rejects.toThrow('fetch failed');
  const isReviewing = async () => (await readdir(folder)).includes('.sandbox-drafts');
  await vi.waitUntil(isReviewing, { timeout: patienceMs, interval: 1 });
  await sandbox.close();

  await unanswered;
  expect(told).toEqual(['call 1 by-file: no answer, 0 bookings accepted']);
});
