import { randomUUID } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { account } from './common/account.js';
import { SandboxError } from './common/errors.js';
import type { Sandbox } from './sandbox.js';

/** Starts the file in every version. */
const mark = '# For the sandbox that was started last in this folder';
const heading = `${mark}. Every start rewrites this file.\n`;

/** No world has this hotel, so the pair is wrong in every world. */
const canaryHint = `# A wrong pair that this sandbox names in an e-mail, as agreed with a service:
# canary: { serviceId: 1, providerName: Canary, providerHotelId: "1", withinHours: 12 }
`;

/** Renders a configuration for a running sandbox. Its secrets are made up, so they are written literally. */
function renderSandboxConfiguration({ service, sftp, outbox }: Sandbox): string {
  const settings = {
    timezone: 'UTC',
    service: {
      baseUrl: service.baseUrl,
      apiKey: account.apiKey,
      accountId: account.accountId,
      masterIdName: 'ServiceId',
      masterIdColumn: 'Service Mappings Id',
    },
    source: { kind: 'csv', path: 'bookings-{day}.csv' },
    delivery: 'body',
    file: {
      sftp: { host: sftp.host, port: sftp.port, ...account.login, hostKey: sftp.fingerprint },
      resultPollSeconds: 0.5,
      resultQuietSeconds: 3,
    },
    // Its e-mails lie in a maildir, where `serve` reads them.
    verdicts: { maildir: dirname(outbox), pollMinutes: 0.1, from: ['@mapping-service.example'] },
  };
  return `${heading}${stringify(settings)}${canaryHint}`;
}

/**
 * Writes the configuration into the sandbox's folder with mode 0600. It replaces that of an earlier start, which may name
 * other ports.
 *
 * @returns its path
 * @throws SandboxError when a foreign file has its name
 */
export async function writeSandboxConfiguration(sandbox: Sandbox): Promise<string> {
  const path = join(sandbox.folder, 'sandbox.yaml');
  const before = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) =>
    error.code === 'ENOENT' ? mark : '',
  );
  if (!before.startsWith(mark))
    throw new SandboxError(
      `${path} was not written by the sandbox and is not overwritten; use another --folder`,
    );
  const part = `${path}.${randomUUID()}.part`;
  try {
    await writeFile(part, renderSandboxConfiguration(sandbox), { mode: 0o600, flag: 'wx' });
    // Replaces a symbolic link rather than its target.
    await rename(part, path);
  } finally {
    await rm(part, { force: true });
  }
  return path;
}

/** The addresses of a running sandbox, for programs. */
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
 * The same for people, with what to do next.
 *
 * @param commands that make up a day of bookings and review it
 */
export function renderAddresses(
  { service, sftp, outbox }: Sandbox,
  configuration: string,
  commands: readonly string[],
): string {
  const { apiKey, accountId, login } = account;
  return `The sandbox is running; Ctrl-C stops it.

  service        ${service.baseUrl}
                 apikey: ${apiKey}   accountId: ${accountId}
  SFTP           ${login.username}@${sftp.host}, port ${sftp.port}, password ${login.password}
                 host key ${sftp.fingerprint}
  e-mails        ${outbox}
  configuration  ${configuration}

Make a day of bookings and have it reviewed:
${commands.map((command) => `  ${command}\n`).join('')}`;
}
