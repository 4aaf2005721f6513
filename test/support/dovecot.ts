import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { CertificateFiles } from './machine.js';
import { awaitGreeting, findFreePort, runsAsRoot, spawnServer } from './sftp-server.js';

const program = '/usr/sbin/dovecot';

/** What is missing here to start an IMAP server of our own. */
export const dovecotNeeds = findWhatIsMissing();

export const imapUser = 'reviews@agency.example';
export const imapPassword = 'pa55 w"0rd\\é';

/** Debian's dovecot, with one mailbox. */
export interface RunningDovecot {
  /** With STARTTLS, but without demanding it. */
  readonly port: number;
  /** With TLS from the start. */
  readonly tlsPort: number;
  /** Delivers an e-mail as another program would. */
  deliver(mail: string, folder?: string): void;
  /** The names of the stored e-mails, with their flags. */
  listStored(folder?: string): string[];
  /** What the server wrote about logins and commands. */
  readLog(): string;
  stop(): Promise<void>;
}

export async function startDovecot({ certificate, key }: CertificateFiles): Promise<RunningDovecot> {
  const folder = mkdtempSync('/tmp/imap-');
  const [port, tlsPort] = [await findFreePort(), await findFreePort()];
  const mail = join(folder, 'mail');
  for (const name of ['', '.Reviews', '.Empty'])
    for (const part of ['new', 'cur', 'tmp']) mkdirSync(join(mail, name, part), { recursive: true });
  const log = join(folder, 'log');
  const users = join(folder, 'users');
  writeFileSync(users, `${imapUser}:{PLAIN}${imapPassword}\n`);
  const configuration = join(folder, 'dovecot.conf');
  writeFileSync(
    configuration,
    `
base_dir = ${folder}/run
state_dir = ${folder}/state
log_path = ${log}
protocols = imap
listen = 127.0.0.1
ssl = yes
ssl_cert = <${certificate}
ssl_key = <${key}
disable_plaintext_auth = no
mail_location = maildir:${mail}
mail_uid = dovecot
mail_gid = dovecot
first_valid_uid = 1
mail_debug = no
passdb {
  driver = passwd-file
  args = scheme=PLAIN ${users}
}
userdb {
  driver = static
  args = uid=dovecot gid=dovecot home=${folder}/home
}
service imap-login {
  inet_listener imap {
    port = ${port}
  }
  inet_listener imaps {
    port = ${tlsPort}
    ssl = yes
  }
}
`,
  );
  own(folder);
  const server = spawnServer(program, ['-F', '-c', configuration]);
  await awaitGreeting(port, server, () => (existsSync(log) ? readFileSync(log, 'utf8') : ''));
  const at = (name = 'INBOX') => (name === 'INBOX' ? mail : join(mail, `.${name}`));
  let delivered = 0;
  return {
    port,
    tlsPort,
    deliver(text, name) {
      delivered += 1;
      const file = join(at(name), 'new', `${Date.now()}.${delivered}.test`);
      writeFileSync(file, text.replaceAll('\r\n', '\n'));
      chownSync(file, ...findOwner());
    },
    listStored: (name) => ['new', 'cur'].flatMap((part) => readdirSync(join(at(name), part))).sort(),
    readLog: () => readFileSync(log, 'utf8'),
    async stop() {
      const ended = once(server, 'exit');
      // It ends its sessions first, which write into the folder.
      server.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true, maxRetries: 50, retryDelay: 20 });
    },
  };
}

function findWhatIsMissing(): string | undefined {
  if (!existsSync(program) || !existsSync('/usr/lib/dovecot/imap'))
    return 'needs dovecot: apt-get install dovecot-imapd';
  return runsAsRoot ? undefined : 'needs root: dovecot does not start for others';
}

/** The account of Debian's package. */
function findOwner(): [uid: number, gid: number] {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith('dovecot:'));
  const [, , uid, gid] = line?.split(':') ?? [];
  return [Number(uid), Number(gid)];
}

function own(folder: string): void {
  const [uid, gid] = findOwner();
  chownSync(folder, uid, gid);
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    chownSync(join(folder, name), uid, gid);
}
