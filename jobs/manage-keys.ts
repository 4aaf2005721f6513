import { exitCode } from '../src/cli/exit-code.js';
import type { Config } from '../src/config/load.js';
import type { KeyFolder } from '../src/keys/key-folder.js';
import { formatCountOf } from '../src/text/format.js';
import { UsageError } from '../src/text/usage-error.js';
import { recordWhereLedger } from './audit.js';
import { openKeys } from './parts.js';
import type { Terminal } from './terminal.js';

/** Replaces the master key. Exits with 1 if a day's key could not be unwrapped. */
export async function rotateKeys(config: Config, terminal: Terminal): Promise<number> {
  const keys = requireKeys(config);
  // Without a ledger nothing is encrypted.
  await recordWhereLedger(config, { action: 'keys-rotate' }, terminal);
  const { master, days, unreadable } = keys.rotate();
  const lines = [
    `master key ${master} is in use and wraps the keys of ${formatCountOf(days.length, 'day')}; the old one is removed from ${keys.root}`,
    ...unreadable.map(
      (day) =>
        `the key of ${day} could not be unwrapped: restore it and its master key from the backup of the keys`,
    ),
    'Back up the folder again. Anyone with an old backup of it can still open the day keys in that backup.',
  ];
  terminal.answer(`${lines.join('\n')}\n`, { master, days, unreadable });
  return unreadable.length === 0 ? exitCode.done : exitCode.failed;
}

/** Gives up a day's lost key: what it encrypted counts as destroyed. */
export async function forgetKey(config: Config, day: string, terminal: Terminal): Promise<number> {
  const keys = requireKeys(config);
  if (keys.listDays().includes(day))
    throw new UsageError(
      `the key of ${day} is in ${keys.root}: it is destroyed after guestNameDays, or at once by \`hotel-review guest purge\` if it is due`,
    );
  await recordWhereLedger(config, { action: 'keys-forget', subject: day }, terminal);
  keys.forget(day);
  terminal.answer(`The lost key of ${day} counts as destroyed.\n`, { day });
  return exitCode.done;
}

function requireKeys(config: Config): KeyFolder {
  const keys = openKeys(config);
  if (keys) return keys;
  throw new UsageError('nothing is encrypted: set keys to a folder outside of those of ledger and archive');
}
