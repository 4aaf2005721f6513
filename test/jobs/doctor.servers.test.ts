import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { businessDayAt } from '../../src/booking/business-day.js';
import type { Settings } from '../support/day-folder.js';
import { sftpSettings } from '../support/file-day.js';
import { openSsh, proFtpd } from '../support/sftp-programs.js';
import { useSftpServer } from '../support/use-servers.js';
import {
  expectSilence,
  fromEnvironment,
  named,
  password,
  prepare,
  runDoctor,
  secrets,
} from './doctor-kit.js';

describe('a configuration for delivery by file', () => {
  const server = useSftpServer(openSsh);

  it('is valid, and leaves only the folder of the month on the server', async () => {
    const { folder } = await prepare({
      ...fromEnvironment,
      delivery: 'file',
      file: sftpSettings(server(), server().port),
    });
    const { exitCode, report, verdictsOf } = await runDoctor(folder);
    expect(report.findings.filter(({ verdict }) => verdict === 'wrong')).toEqual([]);
    expect(exitCode).toBe(0);
    expect(verdictsOf('sftp')).toEqual(['ok', 'ok', 'ok']);
    const month = businessDayAt(new Date(), 'Europe/Madrid').previous().mmyyyy;
    expect(await readdir(server().disk(''), { recursive: true })).toEqual([
      'VerifyMappings',
      join('VerifyMappings', month),
    ]);
  });

  it('without a pinned host key is shown the one that the server presents, and how to pin it', async () => {
    const { sftp } = sftpSettings(server(), server().port) as { sftp: Settings };
    const { hostKey: _, ...others } = sftp;
    const { standIn, folder } = await prepare({
      ...fromEnvironment,
      delivery: 'file',
      file: { sftp: others },
    });
    const { exitCode, report } = await runDoctor(folder);
    expect(exitCode).toBe(2);
    const found = report.findings.filter(({ part }) => part === 'sftp');
    expect(found).toEqual([
      expect.objectContaining({
        verdict: 'wrong',
        advice: expect.stringMatching(/^Ask its operator .* set file\.sftp\.hostKey: "SHA256:/),
      }),
    ]);
    expect(server().fingerprints.some((one) => found[0]?.advice?.includes(one))).toBe(true);
    expect(standIn.connections).toBe(0);
  });

  it.each([
    ['alone', undefined, ['source']],
    ['next to that of the review file', 'not pinned either', ['source', 'sftp']],
  ])('whose source is an SFTP drop without a pinned host key shows the key, %s', async (_, other, parts) => {
    const { sftp } = sftpSettings(server(), server().port) as { sftp: Settings };
    const { hostKey: _hostKey, ...unpinned } = sftp;
    const { host, port, root: _root, ...account } = unpinned;
    const { standIn, folder } = await prepare({
      ...fromEnvironment,
      file: { sftp: other === undefined ? sftp : { ...unpinned, hostKey: other } },
      source: { path: `sftp://${host}:${port}/out/{day}.csv`, sftp: account },
    });
    const { exitCode, report, written } = await runDoctor(folder);
    expect(exitCode).toBe(2);
    const found = report.findings.filter(({ message }) => message.includes('presents the host key'));
    expect(found.map(({ part }) => part).sort()).toEqual([...parts].sort());
    for (const { part, advice } of found) {
      const setting = part === 'source' ? 'source.sftp.hostKey' : 'file.sftp.hostKey';
      expect(advice).toContain(`set ${setting}: "SHA256:`);
      expect(server().fingerprints.some((one) => advice?.includes(one))).toBe(true);
    }
    expect(written).not.toContain(String(account.privateKeyFile));
    expect(standIn.connections).toBe(0);
  });
});

describe('guests and secrets do not leak', () => {
  const server = useSftpServer(proFtpd);

  it.each([
    ['that is refused', password],
    ['that is accepted', undefined],
  ])('with a password of the SFTP server %s', async (_, wrongPassword) => {
    const { login } = server();
    const { sftp } = sftpSettings(server(), server().port) as { sftp: Settings };
    const settings = { ...sftp, password: `\${SFTP_PASSWORD}` };
    const { folder } = await prepare({ ...fromEnvironment, file: { sftp: settings } }, undefined, named);
    const env = { ...secrets, SFTP_PASSWORD: wrongPassword ?? login.password };
    const result = await runDoctor(folder, { env });
    expect(result.exitCode).toBe(wrongPassword === undefined ? 0 : 2);
    expectSilence(result);
    expect(result.written).not.toContain(login.password);
  });
});
