import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  awaitGreeting,
  findFreePort,
  fingerprintOf,
  freezeDescendants,
  makeKey,
  makeServerFolder,
  runsAsRoot,
  type SftpServerKind,
  sessionUser,
  spawnServer,
  stopServer,
} from './sftp-server.js';

const proftpd = '/usr/sbin/proftpd';
const modules = '/usr/lib/proftpd';

/** ProFTPD's mod_sftp: login by password, no posix-rename, the served folder is the root. */
export const proFtpd: SftpServerKind = {
  name: 'ProFTPD',
  needs: findWhatIsMissing(),
  replacesInOneStep: false,

  async start() {
    const { folder, files } = makeServerFolder();
    const hostKeys = ['ed25519', 'rsa'].map((type) => makeKey(join(folder, `host_${type}`), type));
    const password = 'pässword "of" acme';
    const users = join(folder, 'users');
    const account = ['--name', 'acme', '--uid', `${sessionUser.uid}`, '--gid', `${sessionUser.gid}`];
    const place = ['--home', files, '--shell', '/bin/false', '--file', users];
    execFileSync('ftpasswd', ['--passwd', ...account, ...place, '--sha512', '--stdin'], {
      input: password,
      stdio: ['pipe', 'ignore', 'ignore'],
    });

    const [port, config, log] = [await findFreePort(), join(folder, 'config'), join(folder, 'log')];
    const settings = [
      `ModulePath ${modules}`,
      'LoadModule mod_sftp.c',
      'ServerName test',
      'ServerType standalone',
      'DefaultServer on',
      'UseIPv6 off',
      'DefaultAddress 127.0.0.1',
      `Port ${port}`,
      `PidFile ${join(folder, 'pid')}`,
      `ScoreboardFile ${join(folder, 'scoreboard')}`,
      `SystemLog ${log}`,
      'TransferLog none',
      'WtmpLog off',
      'UseReverseDNS off',
      'DelayEngine off',
      'AuthOrder mod_auth_file.c',
      `AuthUserFile ${users}`,
      'RequireValidShell off',
      `DefaultRoot ${files}`,
      'AllowOverwrite on',
      'SFTPEngine on',
      ...hostKeys.map((key) => `SFTPHostKey ${key}`),
      'SFTPExtensions -posixRename',
      'SFTPAuthMethods password',
    ];
    writeFileSync(config, `${settings.join('\n')}\n`);
    const server = spawnServer(proftpd, ['-n', '-q', '-c', config]);
    await awaitGreeting(port, server, () => (existsSync(log) ? readFileSync(log, 'utf8') : 'no log'));

    return {
      port,
      folder,
      login: { username: 'acme', password },
      root: '/',
      fingerprints: hostKeys.map(fingerprintOf),
      disk: (path) => join(files, path),
      freezeSessions: () => freezeDescendants(server.pid),
      stop: () => stopServer(server, folder),
    };
  },
};

function findWhatIsMissing(): string | undefined {
  if (!existsSync(proftpd) || !existsSync(join(modules, 'mod_sftp.so'))) {
    return 'needs proftpd with mod_sftp: apt-get install proftpd-core proftpd-mod-crypto';
  }
  return runsAsRoot ? undefined : 'needs root: proftpd does not start for others';
}
