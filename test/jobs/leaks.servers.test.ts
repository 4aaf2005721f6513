import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { archiveOf } from '../support/archived-run.js';
import { day } from '../support/day-folder.js';
import { prepareFileDay, remoteFolder, resultPath } from '../support/file-day.js';
import { success } from '../support/http-stand-in.js';
import { openSsh, proFtpd } from '../support/sftp-programs.js';
import { makeRemoteFolder, useSftpServer } from '../support/use-servers.js';
import { csv, guest, runTraced, traced } from './traced-day.js';

describe('the password of a day by file', () => {
  const server = useSftpServer(proFtpd);

  it('does not leak when the server refuses it', async () => {
    const { folder } = await prepareFileDay(server(), { bookings: csv, settings: { retry: { tries: 1 } } });
    await folder.configure({ file: { sftp: { password: `\${SFTP_PASSWORD}` } } });
    const env = { SFTP_PASSWORD: 'canary-wrong-password-08aa' };
    const { exitCode, stderr } = await folder.run(runTraced, { env });
    expect(exitCode).toBe(1);
    expect(stderr).toContain('sftp-authentication-refused');
  });
});

describe('names and secrets of a day by file do not leak', () => {
  const server = useSftpServer(openSsh);

  it('in a good run: names are only in the file, its result and the ledger, not in the manifest', async () => {
    // BR-59 can't go into the file and is posted.
    const { standIn, service, folder } = await prepareFileDay(server(), {
      bookings: csv.replace('Expedia,0059A', ',0059A'),
      async onCall(call) {
        await call.writeResult({ affected: ['BR-17', 'BR-18'] });
        return success;
      },
    });
    const result = await folder.run(runTraced);
    expect(result.report.counts).toMatchObject({ delivered: 60, affected: 2 });
    for (const question of ['status', 'affected', 'verify'])
      expect((await folder.run([question, day, ...traced])).exitCode).toBe(0);
    expect(service.calls.map((call) => call.file?.includes(guest))).toEqual([true]);
    expect(standIn.accepted()).toHaveLength(1);
    const archive = archiveOf(result);
    for (const name of ['20112026.csv', '20112026_Result.csv'])
      expect(archive.read(name).toString()).toContain(guest);
    // When the archive was tampered with, `verify` says where.
    const path = join(archive.path, '20112026.csv');
    writeFileSync(path, readFileSync(path, 'utf8').replace(guest, `"${guest}`));
    expect((await folder.run(['verify', day, ...traced])).exitCode).toBe(1);
  });

  it.each([
    ['breaks off inside a quote', (whole: string) => `${whole.slice(0, -200)}"${guest}`],
    ['has the guest as a verdict', (whole: string) => whole.replaceAll(/True$/gm, guest)],
    ['has the guest as a header', (whole: string) => whole.replace(/^.*$/m, `${guest},${guest}`)],
    ['has shifted cells', (whole: string) => whole.replaceAll(`,${guest},`, `,${guest},${guest},`)],
    ['is not UTF-8', (whole: string) => Buffer.from(whole.replaceAll(guest, `${guest}\xe9`), 'latin1')],
  ])('when a result %s', async (_, spoil) => {
    makeRemoteFolder(server(), remoteFolder);
    const { folder } = await prepareFileDay(server(), {
      bookings: csv,
      settings: { file: { resultTimeoutMinutes: 0.01 } },
      onCall(call) {
        writeFileSync(server().disk(resultPath), spoil(call.renderResult()));
        return success;
      },
    });
    expect([0, 1, 3]).toContain((await folder.run(runTraced)).exitCode);
    await folder.run(['status', day, '--json', ...traced]);
  });
});
