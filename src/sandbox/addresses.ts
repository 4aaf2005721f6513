import { account, type Sandbox } from './sandbox.js';

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
