import { isLoopbackAddress } from '../../base/addresses.js';
import { findRemoteHost, readConnectionSecurity } from '../../base/connection-security.js';
import { formatLocalInstant } from '../../base/format.js';
import { isPlaceholder } from '../../base/setting-placeholders.js';
import { isGroup } from '../../base/setting-values.js';
import { businessDayAt } from '../../booking/business-day.js';
import type { Config } from '../../config/load.js';
import { formatPath } from '../../config/problems.js';
import { readSmtpAddress } from '../../notify/channels/channel-settings.js';
import { judgeDeadlines } from '../../notify/deadlines.js';
import { nobodyIsTold } from '../../rules/notice.js';
import { kindOf } from '../../sources/registry.js';
import { type Check, type Finding, findingsOf, type Part } from '../check.js';
import { warnOfSamePath } from '../examination/source-check.js';

/** What the settings themselves say: what is still to be filled in, and what they risk. */
export const settings: Check = {
  part: 'configuration',
  look: async ({ config, clock }) => [
    ...listUnfilled(config).map(askToFillIn),
    ...config.literalSecrets.map(warnOfSecret),
    describeToday(config, clock()),
    describeDeadline(config, clock()),
    ...listExposures(config),
    ...listUnshared(config),
    ...listSilences(config),
    ...warnOfSamePath(config.source),
  ],
};

const warn = (part: Part, message: string, advice: string) => findingsOf(part).warning(message, advice);

/** The settings, as paths, that still hold a placeholder of `init`. */
export function listUnfilled({ service, source, s3, file: { sftp } }: Config): readonly string[] {
  const search = (value: unknown, path: readonly string[]): string[] => {
    if (isGroup(value))
      return Object.entries(value).flatMap(([name, member]) => search(member, [...path, name]));
    return [value].flat().some(isPlaceholder) ? [formatPath(path)] : [];
  };
  return [
    ...search(service, ['service']),
    // The options of a bookings module are the module's own business.
    ...search(source.kind === 'module' ? { ...source, options: {} } : source, ['source']),
    ...search({ AWS_ACCESS_KEY_ID: s3.accessKeyId, AWS_SECRET_ACCESS_KEY: s3.secretAccessKey }, []),
    ...search(sftp, ['file', 'sftp']),
  ];
}

function askToFillIn(path: string): Finding {
  return findingsOf('configuration').wrong(
    `${path} is still the placeholder that init wrote`,
    /hostKey$/.test(path)
      ? 'The line `sftp` shows the key that the server presents. Ask its operator to confirm it.'
      : 'Replace it, in the configuration or in .env, wherever the value comes from.',
  );
}

function warnOfSecret(path: string): Finding {
  return warn(
    'configuration',
    `${path} holds a secret in the file itself`,
    `Move it into the environment or .env, and set this to "\${NAME}" with the variable's name, or into a file: "\${file:PATH}".`,
  );
}

/** What crosses the network unprotected, which the configuration has to allow first. */
function* listExposures({ server, hook, source, ledger, notify }: Config): Generator<Finding> {
  if (!isLoopbackAddress(server.host))
    yield warn(
      'configuration',
      // A proxy may be in front.
      `server.host is ${server.host}, without TLS: ${
        hook.secret === undefined
          ? 'the pages cross the network in plain text'
          : 'a caller that sends hook.secret as a bearer token sends it in plain text, and anybody who reads it can start runs'
      }`,
      'Put a proxy with TLS in front of it, and set server.host to 127.0.0.1.',
    );
  const database = kindOf(source).findDatabase?.(source);
  if (database) yield* warnOfWire('source', database.setting, database.url);
  if ('url' in ledger) yield* warnOfWire('ledger', 'ledger', ledger.url);
  for (const channel of notify) {
    if (channel.kind !== 'email' || channel.plaintext !== 'allowed') continue;
    const address = readSmtpAddress(channel.smtp);
    if (!address || address.isImplicitTls || address.isThisMachine) continue;
    yield warn(
      'notify',
      `${channel.name} sends to ${address.host} without TLS: ${address.login ? 'the password and ' : ''}its e-mails cross the network in plain text`,
      'Remove plaintext if the server supports STARTTLS, or use smtps://.',
    );
  }
}

function warnOfWire(part: Part, setting: string, url: string): Finding[] {
  const security = readConnectionSecurity(url);
  if (security === 'local' || security === 'verified') return [];
  const fault =
    security === 'plain'
      ? "is not encrypted: guests' names cross the network in plain text"
      : "does not verify the certificate: guests' names go to whoever answers";
  return [
    warn(
      part,
      `the connection to ${findRemoteHost(url)} ${fault}`,
      `Add ?sslmode=verify-full to the address in ${setting}, if the server supports TLS.`,
    ),
  ];
}

/** Workers on several machines share a queue, but can't see what is only on this machine. */
function* listUnshared({ queue, ledger, archive, keys }: Config): Generator<Finding> {
  const isLocal = { ledger: 'path' in ledger, archive: 'path' in archive, keys: keys !== undefined };
  const local = Object.entries(isLocal).flatMap(([name, is]) => (is ? [name] : []));
  if (queue.kind === 'redis' && local.length > 0)
    yield warn(
      'queue',
      `workers on other machines cannot reach what is on this one: ${local.join(', ')}`,
      'Keep all workers on this machine, or set ledger to postgres://… and put the other folders where all workers see them.',
    );
}

/** Who is told nothing. */
function* listSilences({ notify, verdicts, server }: Config): Generator<Finding> {
  if (notify.length === 0)
    yield warn(
      'notify',
      nobodyIsTold,
      'List in the setting notify who is told what happens, and what should have happened.',
    );
  if ((verdicts.imap ?? verdicts.maildir) !== undefined && verdicts.from === undefined)
    yield warn(
      'verdicts',
      "anybody's e-mails count: whoever can write to the mailbox opens cases, for at most 1,000 bookings at once",
      'Set verdicts.from to the address or the domain that the service writes from.',
    );
  if (server.users === undefined && !isLoopbackAddress(server.host))
    yield warn(
      'users',
      `server.users is not set: the pages of serve are refused, because server.host is ${server.host}`,
      'Set it to ./users.json. Add somebody: `hotel-review user add NAME --role admin`.',
    );
}

function describeToday({ timezone }: Config, now: number): Finding {
  const day = businessDayAt(new Date(now), timezone).previous().iso;
  return findingsOf('clock').ok(
    `it is ${formatLocalInstant(now, timezone)} in ${timezone}: run takes ${day}`,
  );
}

/** Which day has to be reviewed next, and by when. */
function describeDeadline({ deadline, timezone }: Config, now: number): Finding {
  const { ok, warning } = findingsOf('clock');
  if (deadline === undefined)
    return warning(
      'no day is ever late: nobody is told if one is not reviewed',
      'Say in the setting deadline by when a day must be reviewed, such as "06:00".',
    );
  const { next } = judgeDeadlines({ deadline, timezone, now, countedFrom: now, reviewedDays: [] });
  if (!next) return warning('the setting deadline sets no deadline in the coming month: no day can be late');
  const at = formatLocalInstant(next.at, timezone);
  return ok(`the next deadline is ${at} (${timezone}), for the bookings of ${next.day}`);
}
