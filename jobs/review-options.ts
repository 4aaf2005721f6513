import { InvalidArgumentError } from 'commander';
import { ConfigurationError } from '../src/config/problems.js';
import type { DeliveryKind } from '../src/review/run.js';
import type { App } from './app.js';
import { choice, flag, option } from './command.js';

/** `--delivery`, which `withDelivery` applies. */
export const delivery = choice('--delivery <how>', 'how to reach the service (default: as configured)', [
  'body',
  'file',
]);

export const acceptVolume = flag(
  '--accept-volume',
  'accept far fewer bookings than usual: send the day, or call it good if it was sent',
);

/** `--out`, which `checkOut` checks. */
export const out = option(
  '--out <dir>',
  'with --dry-run: write what would be sent to this folder (with guest names)',
);

/** Some text, for `--reason`. */
export function readReason(text: string): string {
  const reason = text.trim();
  if (reason === '') throw new InvalidArgumentError('expected some text');
  return reason;
}

export function checkOut(given: { readonly dryRun: boolean; readonly out: string | undefined }): void {
  if (given.out !== undefined && !given.dryRun) throw new InvalidArgumentError('--out requires --dry-run');
}

/**
 * The app with that delivery instead of the configured one.
 *
 * @param file the configuration's name
 */
export function withDelivery(app: App, file: string, kind: DeliveryKind = app.config.delivery): App {
  // A configuration for delivery by body may lack the server.
  if (kind === 'file' && app.config.file.sftp === undefined) {
    throw new ConfigurationError(file, [
      { path: 'file.sftp', message: 'expected the SFTP server, as --delivery is file, got: nothing' },
    ]);
  }
  return { ...app, config: { ...app.config, delivery: kind } };
}
