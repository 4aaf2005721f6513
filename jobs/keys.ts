import { formatCountOf } from '../src/base/format.js';
import { UsageError } from '../src/base/usage-error.js';
import type { App } from './app.js';
import { type AnyCommand, command, requiredDay } from './command.js';
import { exitCode } from './exit-code.js';

/** Replaces the master key. Exits with 1 if a day's key could not be unwrapped. */
const rotate = command({
  async run(app) {
    const keys = requireKeys(app);
    await app.record({ action: 'keys-rotate' });
    const { master, days, unreadable } = keys.rotate();
    return app.answer(
      [
        `master key ${master} is in use and wraps the keys of ${formatCountOf(days.length, 'day')}; the old one is removed from ${keys.root}`,
        unreadable.map(
          (day) =>
            `the key of ${day} could not be unwrapped: restore it and its master key from the backup of the keys`,
        ),
        'Back up the folder again. Anyone with an old backup of it can still open the day keys in that backup.',
      ],
      { master, days, unreadable },
      unreadable.length === 0 ? exitCode.done : exitCode.failed,
    );
  },
});

/** Gives up a day's lost key: what it encrypted counts as destroyed. */
const forget = command({
  day: requiredDay,
  async run(app, { day }) {
    const keys = requireKeys(app);
    if (keys.listDays().includes(day))
      throw new UsageError(
        `the key of ${day} is in ${keys.root}: it is destroyed after guestNameDays, or at once by \`hotel-review guest purge\` if it is due`,
      );
    await app.record({ action: 'keys-forget', subject: day });
    keys.forget(day);
    return app.answer(`The lost key of ${day} counts as destroyed.`, { day });
  },
});

function requireKeys(app: App) {
  const keys = app.keys();
  if (keys) return keys;
  throw new UsageError('nothing is encrypted: set keys to a folder outside of those of ledger and archive');
}

export default {
  examples: `
Examples:
  hotel-review keys rotate             every few months, and when somebody leaves
  hotel-review keys forget 2026-11-20  data under that day's key stays unreadable`,
  commands: {
    rotate: ['', 'replace the master key: day keys are wrapped again, and no stored data changes', rotate],
    forget: [
      '[day]',
      "give up a day's key that is lost for good, so that retention no longer waits for it",
      forget,
    ],
  },
} satisfies AnyCommand;
