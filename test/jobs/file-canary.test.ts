import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { archiveOf } from '../support/archived-run.js';
import { day } from '../support/day-folder.js';
import { remoteFolder, resultPath } from '../support/file-day.js';
import { type ArrivingRequest, refusal, success } from '../support/http-stand-in.js';
import { openSsh, proFtpd } from '../support/sftp-programs.js';
import { findFreePort } from '../support/sftp-server.js';
import { expectSilence, guest, listFiles, prepareSilentFileDay, traced } from '../support/silent-file-day.js';
import { startTcpProxy } from '../support/tcp-proxy.js';
import { useSftpServer } from '../support/use-servers.js';

describe.each([openSsh, proFtpd])('guests and secrets of a day by file over $name do not leak', (kind) => {
  const server = useSftpServer(kind);

  it('in a good run: names are only in the file, its result and the ledger, not in the manifest', async () => {
    const { standIn, service, folder, run, look } = await prepareSilentFileDay(server(), {
      onCall: async (call) => {
        await call.writeResult({ affected: ['BR-17', 'BR-18'] });
        return success;
      },
    });
    const result = await run('run', '--day', day, '--json', ...traced);
    expect(result.exitCode).toBe(0);
    expect(result.report.counts).toMatchObject({ delivered: 60, affected: 2 });
    await look();
    // As text, over what the first run left on the server.
    expect((await run('replay', day)).exitCode).toBe(0);
    expect((await run('affected', day, '--csv', 'wrong.csv')).exitCode).toBe(0);
    expect(readFileSync(join(folder.path, 'wrong.csv'), 'utf8')).toContain('BR-17');
    await look();

    expect(service.calls).toHaveLength(2);
    for (const call of service.calls) expect(call.file?.toString()).toContain(guest);
    expect(standIn.accepted()).toHaveLength(2);
    const archive = archiveOf(result);
    expect(archive.names()).toEqual(['20112026.csv', '20112026_Result.csv', 'manifest.json']);
    for (const name of ['20112026.csv', '20112026_Result.csv'])
      expect(archive.read(name).toString()).toContain(guest);
  });

  it('when the server refuses the login, the key, the folder or the connection', async () => {
    const { run, runWith, look, runAndLook, reconfigure } = await prepareSilentFileDay(server());
    const wrong = 'canary-wrong-secret-08aa';
    for (const args of [
      ['run', '--day', day],
      ['run', '--day', day, '--json', ...traced],
    ]) {
      const refused = await runWith(wrong, ...args);
      expect(refused.exitCode).toBe(1);
      expectSilence(`${refused.stdout}${refused.stderr}`, [wrong]);
    }
    for (const sftp of [{ hostKey: `SHA256:${'A'.repeat(43)}` }, { port: await findFreePort() }]) {
      await reconfigure({ sftp });
      await runAndLook(1);
    }
    await reconfigure({});
    chmodSync(server().disk(remoteFolder), 0o555);
    await runAndLook(1);
    chmodSync(server().disk(remoteFolder), 0o755);
    expect((await run('run', '--day', day)).exitCode).toBe(0);
    await look();
  });
});

describe('guests and secrets of a day by file do not leak', () => {
  const server = useSftpServer(openSsh);

  it('while a result is awaited, and when it arrives', async () => {
    const { service, folder, look, runAndLook } = await prepareSilentFileDay(
      server(),
      { onCall: () => success },
      { resultTimeoutMinutes: 0.005 },
    );
    await runAndLook(3);
    const spooled = readdirSync(join(folder.path, 'data', 'spool'));
    expect(spooled).toHaveLength(1);
    await service.calls[0]?.writeResult();
    await runAndLook(0);
    await look();
  });

  it.each([403, 400, 500])('when %i echoes the whole call and names the guest', async (status) => {
    const echo = ({ rawHeaders, url }: ArrivingRequest) => `${guest} ${url} ${rawHeaders.join(' ')}`;
    let request: ArrivingRequest | undefined;
    const { run, runAndLook, secrets } = await prepareSilentFileDay(server(), {
      onCall: () => ({ kind: 'text', status, body: request ? echo(request) : guest }),
      onPost: (posted) => {
        request = posted;
        return { kind: 'text', status, body: echo(posted) };
      },
    });
    await runAndLook(1);
    expectSilence((await run('show', 'BR-59', '--answers', '--json')).stdout, secrets);
  });

  it.each([2001, 2003, 2020, 2999])('when a Message inside a 200 with %i names the guest', async (code) => {
    const { runAndLook } = await prepareSilentFileDay(server(), {
      onCall: () => refusal(code, `no file of ${guest}`),
    });
    await runAndLook(1);
  });

  it.each([
    ['breaks off inside a quote', (whole: string) => `${whole.slice(0, -200)}"${guest}`],
    ['has the guest as a verdict', (whole: string) => whole.replaceAll(/True$/gm, guest)],
    ['has the guest as a header', (whole: string) => whole.replace(/^.*$/m, `${guest},${guest}`)],
    ['has shifted cells', (whole: string) => whole.replaceAll(`,${guest},`, `,${guest},${guest},`)],
    ['is not UTF-8', (whole: string) => Buffer.from(whole.replaceAll(guest, `${guest}\xe9`), 'latin1')],
  ])('when a result %s', async (_, spoil) => {
    const { run, look } = await prepareSilentFileDay(
      server(),
      {
        onCall: (call) => {
          writeFileSync(server().disk(resultPath), spoil(call.renderResult()));
          return success;
        },
      },
      { resultTimeoutMinutes: 0.02 },
    );
    const { exitCode } = await run('run', '--day', day, '--json', ...traced);
    expect([0, 3]).toContain(exitCode);
    await run('run', '--day', day);
    await look();
  });

  it('when a result is about other bookings', async () => {
    const { folder, runAndLook } = await prepareSilentFileDay(
      server(),
      {
        onCall: async (call) => {
          const records = [
            { 'Service Mappings Id': '7', BookingReferenceId: 'XX-1', BookingClientName: guest },
          ];
          await call.writeResult({ records });
          return success;
        },
      },
      { resultTimeoutMinutes: 0.02 },
    );
    await runAndLook(3);
    const kept = listFiles(join(folder.path, 'data', 'archive')).map((file) => relative(folder.path, file));
    expect(kept).toEqual([expect.stringMatching(/\/foreign-[0-9a-f]{12}-20112026_Result\.csv$/)]);
  });

  it('when the connection breaks in the middle of the data', async () => {
    const proxy = await startTcpProxy(server().port);
    const { runAndLook } = await prepareSilentFileDay(server(), { port: proxy.port });
    proxy.resetAfter(5_000);
    await runAndLook(1);
    expect(proxy.happened.resets).toBeGreaterThan(0);
    proxy.heal();
    await runAndLook(0);
    await proxy.stop();
  });

  it.each(['archive', 'spool'])('when the %s is not a folder', async (place) => {
    const { folder, runAndLook } = await prepareSilentFileDay(server());
    const path = join(folder.path, 'data', place);
    mkdirSync(dirname(path), { mode: 0o700 });
    writeFileSync(path, '', { mode: 0o600 });
    await runAndLook(1);
    rmSync(path);
    await runAndLook(0);
  });

  it('when the archive was tampered with and is verified', async () => {
    const { run, look } = await prepareSilentFileDay(server());
    const archive = archiveOf(await run('run', '--day', day, '--json'));
    const path = join(archive.path, '20112026.csv');
    writeFileSync(path, readFileSync(path, 'utf8').replace(guest, `"${guest}`));
    expect((await run('verify', day, ...traced)).exitCode).toBe(1);
    await look();
  });
});
