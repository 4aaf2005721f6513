import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fillFolder } from './prepared-folder.js';
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

const sshd = '/usr/sbin/sshd';

/** A new one, and one that all servers share: an RSA key takes seconds of processor time now and then. */
function makeHostKeys(folder: string): readonly string[] {
  const shared = join(folder, 'shared');
  fillFolder(shared, 'sftp-host-key', () => {
    mkdirSync(shared);
    makeKey(join(shared, 'host_rsa'), 'rsa');
  });
  return [makeKey(join(folder, 'host_ed25519'), 'ed25519'), join(shared, 'host_rsa')];
}

/** OpenSSH's sshd: login by key, posix-rename offered, the served folder somewhere below the root. */
export const openSsh: SftpServerKind = {
  name: 'OpenSSH',
  needs: existsSync(sshd) ? undefined : 'needs sshd: apt-get install openssh-server',
  replacesInOneStep: true,
  reportsFreeSpace: true,

  async start() {
    const { folder, files } = makeServerFolder();
    const hostKeys = makeHostKeys(folder);
    const privateKeyFile = makeKey(join(folder, 'login'), 'ed25519');
    const authorizedKeys = join(folder, 'authorized_keys');
    writeFileSync(authorizedKeys, readFileSync(`${privateKeyFile}.pub`));
    chmodSync(authorizedKeys, 0o644);

    makePrivilegeSeparationFolder();
    const [port, config, log] = [await findFreePort(), join(folder, 'sshd_config'), join(folder, 'sshd.log')];
    const settings = [
      `Port ${port}`,
      'ListenAddress 127.0.0.1',
      ...hostKeys.map((key) => `HostKey ${key}`),
      'PidFile none',
      `AuthorizedKeysFile ${authorizedKeys}`,
      'StrictModes no',
      // Without PAM, an sshd that runs as a plain user considers accounts locked.
      `UsePAM ${runsAsRoot ? 'no' : 'yes'}`,
      'PasswordAuthentication no',
      'MaxStartups 1000',
      'Subsystem sftp internal-sftp',
      'ForceCommand internal-sftp',
    ];
    writeFileSync(config, `${settings.join('\n')}\n`);
    const server = spawnServer(sshd, ['-D', '-f', config, '-E', log]);
    await awaitGreeting(port, server, () => readFileSync(log, 'utf8'));

    return {
      port,
      folder,
      login: { username: sessionUser.name, privateKeyFile },
      root: files,
      fingerprints: hostKeys.map(fingerprintOf),
      disk: (path) => join(files, path),
      freezeSessions: () => freezeDescendants(server.pid),
      stop: () => stopServer(server, folder),
    };
  },
};

const proftpd = '/usr/sbin/proftpd';
const modules = '/usr/lib/proftpd';

/** ProFTPD's mod_sftp: login by password, no posix-rename, the served folder is the root. */
export const proFtpd: SftpServerKind = {
  name: 'ProFTPD',
  needs: findWhatIsMissing(),
  replacesInOneStep: false,
  reportsFreeSpace: false,

  async start() {
    const { folder, files } = makeServerFolder();
    const hostKeys = makeHostKeys(folder);
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

/** The folder for an sshd's privilege separation exists only where it runs as a system service. */
export function makePrivilegeSeparationFolder(): void {
  if (runsAsRoot) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
}
