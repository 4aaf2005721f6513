import { stringify } from 'yaml';
import { account, type Sandbox } from './sandbox.js';

/** The configuration that goes with a running sandbox; its secrets are made up and stand in it as they are. */
export function renderSandboxConfiguration({
  service,
  sftp,
  masterIdName,
  masterIdColumn,
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
  };
  return `# For the sandbox that was started last in this folder: written anew by every start of it.\n${stringify(settings)}`;
}
