import { type Command, InvalidArgumentError } from 'commander';
import { type Finish, type GlobalOptions, readGlobals, readReference } from './options.js';

export interface EraseOptions {
  readonly reason: string;
  /** Whether to erase the reference and the stay, too. */
  readonly all: boolean;
  readonly dryRun: boolean;
}

/** The commands about what is kept of guests; each returns the exit code. */
export interface GuestHandlers {
  exportGuest(reference: string, globals: GlobalOptions): Promise<number>;
  eraseGuest(reference: string, options: EraseOptions, globals: GlobalOptions): Promise<number>;
  purgeGuests(options: { readonly dryRun: boolean }, globals: GlobalOptions): Promise<number>;
}

export function addGuestCommands(program: Command, handlers: GuestHandlers, finish: Finish): void {
  const guest = program
    .command('guest')
    .description('export or remove the data kept about guests')
    .addHelpText('after', guestExamples);

  guest
    .command('export <booking-reference>')
    .description('print everything kept about a guest in ledger, archive, spool and audit trail, as JSON')
    .addHelpText('after', exportExamples)
    .action(async (reference: string, _options: unknown, command: Command) => {
      finish(await handlers.exportGuest(readReference(reference), readGlobals(command)));
    });

  guest
    .command('erase <booking-reference>')
    .description(
      "remove a guest's name everywhere, and print a receipt; replays then send the booking without it",
    )
    .requiredOption('--reason <text>', 'why; printed on the receipt and kept in the audit trail')
    .option('--all', 'remove the reference and the stay too', false)
    .option('--dry-run', 'only show what would be changed', false)
    .addHelpText('after', eraseExamples)
    .action(async (reference: string, options: EraseOptions, command: Command) => {
      if (options.reason.trim() === '') throw new InvalidArgumentError('expected a reason after --reason');
      finish(await handlers.eraseGuest(readReference(reference), options, readGlobals(command)));
    });

  guest
    .command('purge')
    .description('remove now what is older than guestNameDays and recordDays')
    .option('--dry-run', 'only show what would be removed', false)
    .addHelpText('after', purgeExamples)
    .action(async (options: { readonly dryRun: boolean }, command: Command) => {
      finish(await handlers.purgeGuests(options, readGlobals(command)));
    });
}

const guestExamples = `
Examples:
  hotel-review guest export BR-1042   what is kept about this booking's guest
  hotel-review guest erase BR-1042 --reason "ticket 7"
  hotel-review guest purge --dry-run  what is too old to be kept`;

const exportExamples = `
Examples:
  hotel-review guest export BR-1042 > guest.json
  hotel-review show --name "Ana Lovelace"   the references of that name`;

const eraseExamples = `
Examples:
  hotel-review guest erase BR-1042 --reason "request of 20 November" --dry-run
  hotel-review guest erase BR-1042 --all --reason "ticket 7"`;

const purgeExamples = `
Example:
  hotel-review guest purge --dry-run`;
