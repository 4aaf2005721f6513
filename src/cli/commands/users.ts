import { type Command, Option } from 'commander';
import { type Role, roles } from '../../access/roles.js';
import { type Finish, type GlobalOptions, readGlobals } from './options.js';

export interface NewUserOptions {
  readonly role: Role;
  readonly withoutPassword: boolean;
}

/** The commands about those who may use the pages of `serve`; each returns the exit code. */
export interface UserHandlers {
  addUser(name: string, options: NewUserOptions, globals: GlobalOptions): Promise<number>;
  listUsers(globals: GlobalOptions): Promise<number>;
  removeUser(name: string, globals: GlobalOptions): Promise<number>;
}

export function addUserCommands(program: Command, handlers: UserHandlers, finish: Finish): void {
  const user = program
    .command('user')
    .description('manage who may use the pages of serve (setting server.users)')
    .addHelpText('after', examples);

  user
    .command('add <name>')
    .description('add somebody, or give them another role and password')
    .addOption(new Option('--role <role>', 'what they may do').choices(roles).makeOptionMandatory())
    .option('--without-password', 'for those who sign in at a proxy (setting server.signIn)', false)
    .addHelpText('after', addExamples)
    .action(async (name: string, options: NewUserOptions, command: Command) => {
      finish(await handlers.addUser(name, options, readGlobals(command)));
    });

  user
    .command('list')
    .description('list their names and roles')
    .action(async (_options: object, command: Command) => {
      finish(await handlers.listUsers(readGlobals(command)));
    });

  user
    .command('remove <name>')
    .description('remove somebody; their sessions end at once')
    .action(async (name: string, _options: object, command: Command) => {
      finish(await handlers.removeUser(name, readGlobals(command)));
    });
}

const examples = `
Examples:
  hotel-review user add ana --role admin
  hotel-review user list
  hotel-review user remove ana`;

const addExamples = `
Roles:
  viewer    sees days, runs, counts, providers and mappings
  team      also sees bookings with guests' names, and works on cases
  operator  also sees bookings with masked names, starts and cancels runs
  admin     everything, including the audit trail

The password is asked for twice, or read from standard input: one line of at
least 12 characters.

Examples:
  hotel-review user add ana --role admin
  hotel-review user add ben --role team < password.txt
  hotel-review user add eva@example.com --role viewer --without-password`;
