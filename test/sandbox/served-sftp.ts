import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ssh2, { type Client, type ConnectConfig, type SFTPWrapper } from 'ssh2';
import { readOrMakeHostKey } from '../../src/sandbox/sftp/host-key.js';
import { type SandboxSftp, startSftp } from '../../src/sandbox/sftp/sftp-server.js';

/** The sandbox's SFTP server in this process, with helpers for tests. */
export interface ServedSftp {
  readonly server: SandboxSftp;
  readonly login: { readonly username: string; readonly password: string };
  /** A temporary folder with the served folder and the host key; tests may add files. */
  readonly folder: string;
  readonly hostKeyFile: string;
  /** All that was told so far. */
  readonly told: string[];
  disk(path: string): string;
  onDisk(path: string): string;
  connect(options?: ConnectConfig): Promise<RawClient>;
  /** Also ends the clients. */
  stop(): Promise<void>;
}

/** ssh2's plain client, which sends exactly what it is asked to. */
export interface RawClient {
  readonly client: Client;
  readonly files: SFTPWrapper;
  /** A request as a promise, which rejects with the server's message and its status as `code`. */
  ask<T = unknown>(start: (answer: (error?: Error | null, value?: T) => void) => void): Promise<T>;
}

export async function serveSftp(): Promise<ServedSftp> {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-sftp-'));
  const hostKeyFile = join(folder, 'host_key');
  const root = join(folder, 'root');
  const login = { username: 'acme', password: 'sécret "1"' };
  const told: string[] = [];
  const hostKey = await readOrMakeHostKey(hostKeyFile);
  const server = await startSftp({ port: 0, root, hostKey, login, tell: (line) => void told.push(line) });
  const clients: Client[] = [];
  const disk = (path: string) => join(root, path);

  return {
    server,
    login,
    folder,
    hostKeyFile,
    told,
    disk,
    onDisk: (path) => readFileSync(disk(path), 'utf8'),
    async connect(options = {}) {
      const client = new ssh2.Client();
      clients.push(client);
      const { host, port } = server;
      const files = await new Promise<SFTPWrapper>((resolve, reject) => {
        client.on('error', reject).on('close', () => reject(new Error('closed')));
        client.on('ready', () =>
          client.sftp((error, sftp) => (error === undefined ? resolve(sftp) : reject(error))),
        );
        client.connect({ host, port, ...login, ...options });
      });
      files.on('error', () => {});
      return { client, files, ask };
    },
    async stop() {
      for (const client of clients) client.destroy();
      await server.close();
      rmSync(folder, { recursive: true });
    },
  };
}

function ask<T>(start: (answer: (error?: Error | null, value?: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    start((error, value) => (error ? reject(error) : resolve(value as T)));
  });
}

/** A known_hosts line that trusts only this server's key. */
export function knownHostsLine({ server, hostKeyFile }: ServedSftp): string {
  const key = ssh2.utils.parseKey(readFileSync(hostKeyFile));
  if (key instanceof Error) throw key;
  return `[${server.host}]:${server.port} ${key.type} ${key.getPublicSSH().toString('base64')}\n`;
}

/** The first that exists. */
export function findProgram(...paths: readonly string[]): string | undefined {
  return paths.find(existsSync);
}
