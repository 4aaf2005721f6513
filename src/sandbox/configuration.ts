import { randomUUID } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { SandboxError } from './common/errors.js';
import { account, type Sandbox } from './sandbox.js';

const heading =
  '# For the sandbox that was started last in this folder: written anew by every start of it.\n';

/** The configuration that goes with a running sandbox; its secrets are made up and stand in it as they are. */
export function renderSandboxConfiguration({
  service,
  sftp,
  masterIdName,
  masterIdColumn,
  exportFolder,
}: Omit<Sandbox, 'folder' | 'outbox' | 'close'>): string {
  const settings = {
    timezone: 'UTC',
    service: {
      baseUrl: service.baseUrl,
      apiKey: account.apiKey,
      accountId: account.accountId,
      masterIdName,
      masterIdColumn,
    },
    source: { kind: 'csv', path: 'bookings-{day}.csv' },
    delivery: 'body',
    file: {
      sftp: { host: sftp.host, port: sftp.port, ...account.login, hostKey: sftp.fingerprint },
      resultPollSeconds: 0.5,
      resultQuietSeconds: 3,
    },
    export: { ...(exportFolder !== '' && { folder: exportFolder }), pollSeconds: 0.5, quietSeconds: 3 },
  };
  return `${heading}${stringify(settings)}`;
}

/**
 * Writes the configuration into the sandbox's folder, mode 0600, over that of an earlier start, whose ports may have been
 * others.
 *
 * @returns its path
 * @throws SandboxError when something else is there under its name
 */
export async function writeSandboxConfiguration(sandbox: Sandbox): Promise<string> {
  const path = join(sandbox.folder, 'sandbox.yaml');
  const before = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) =>
    error.code === 'ENOENT' ? heading : '',
  );
  if (!before.startsWith(heading))
    throw new SandboxError(`${path} is not the sandbox's own and is not overwritten; name another --folder`);
  const part = `${path}.${randomUUID()}.part`;
  try {
    await writeFile(part, renderSandboxConfiguration(sandbox), { mode: 0o600, flag: 'wx' });
    // Replaces a link, not what it leads to.
    await rename(part, path);
  } finally {
    await rm(part, { force: true });
  }
  return path;
}

/** Where a running sandbox is reached, for a program. */
export function listAddresses({ folder, service, sftp, outbox }: Sandbox, configuration: string): object {
  return {
    service: { baseUrl: service.baseUrl, apiKey: account.apiKey, accountId: account.accountId },
    sftp: { ...sftp, ...account.login },
    outbox,
    folder,
    configuration,
  };
}

/**
 * The same for a person, and what to do with it.
 *
 * @param commands that make up a day of bookings and review it
 */
export function renderAddresses(
  { service, sftp, outbox }: Sandbox,
  configuration: string,
  commands: readonly string[],
): string {
  const { apiKey, accountId, login } = account;
  return `The sandbox runs; Ctrl-C stops it.

  service        ${service.baseUrl}
                 apikey: ${apiKey}   accountId: ${accountId}
  SFTP           ${login.username}@${sftp.host}, port ${sftp.port}, password ${login.password}
                 host key ${sftp.fingerprint}
  e-mails        ${outbox}
  configuration  ${configuration}

A day of bookings for it, and its review:
${commands.map((command) => `  ${command}\n`).join('')}`;
}
