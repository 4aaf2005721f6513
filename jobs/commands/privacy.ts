import { formatCount, wrapText } from '../../src/base/format.js';
import { describeError } from '../../src/base/safe-error.js';
import { bookingFields, guestNameFields } from '../../src/booking/booking.js';
import type { GuestNames } from '../../src/booking/sending.js';
import { readActions } from '../../src/ledger/audit.js';
import type { ReadOnlyLedger } from '../../src/ledger/ledger.js';
import { listArchived } from '../../src/review/file/archive-run.js';
import { findUnknownFolders, unknownToJson } from '../../src/review/unknown-folders.js';
import type { Run } from '../../src/rules/run.js';
import type { RunFolder } from '../../src/storage/archive.js';
import { showS3Location } from '../../src/transports/s3/bucket.js';
import type { App } from '../app.js';
import { command } from '../command.js';
import { showLedgerLocation } from '../parts.js';

const runsLookedAt = 100_000;
/** Each look into a bucket is a request. */
const looksAtOnce = 8;
/** Written files that a terminal shows. */
const shown = 20;

/** Prints the record of processing of this installation: from its settings and from what it holds now. */
export default command({
  place: ['guests', 2],
  summary: 'print which personal data is kept, where, since when, until when, and who receives it',
  examples: `
Examples:
  hotel-review privacy         the record of processing of this installation
  hotel-review privacy --json  the same for a program`,

  async run(app) {
    const record = await describeProcessing(app);
    const { guestNames, encryption, unknownFolders, writtenFiles } = record;
    const left = writtenFiles.length - shown;
    return app.answer(
      [
        'Record of processing',
        '',
        section('Purpose', [record.purpose]),
        section('Whose data', [record.dataSubjects.join('; ')]),
        section(
          'Which data',
          record.categories.map(({ category, fields }) => `${category}: ${fields.join(', ')}`),
        ),
        section("Guests' names", [`${guestNames.meaning} (guestNames: ${guestNames.setting})`]),
        section('Where it comes from', [record.source]),
        section(
          'Where it is kept, since when, until when',
          record.places.flatMap(({ place, location, categories, count, unit, since, until }) => {
            const amount = count === null ? 'could not be checked' : `${formatCount(count)} ${units[unit]}`;
            const from = since === null ? '' : `, since ${since}`;
            return [
              `${place}: ${location}`,
              `  ${categories.join(', ')}: ${amount}${from}`,
              `  until ${until}`,
            ];
          }),
        ),
        ...(unknownFolders
          ? [
              section(
                'In the archive, of runs that the ledger does not know',
                unknownFolders.map(({ folder, files }) => `${folder}: ${files.join(', ')}`),
              ),
            ]
          : []),
        section('Encryption at rest', [describeEncryption(encryption)]),
        section('Files that people exported', [
          ...writtenFiles.slice(-shown).map(({ at, who, path }) => `${at}  ${who}: ${path}`),
          ...(left > 0 ? [`and ${left} earlier ones: ${app.command('audit --json')}`] : []),
          ...(writtenFiles.length === 0 ? ['none'] : []),
        ]),
        section(
          'Who receives it',
          record.recipients.flatMap(({ recipient, location, categories, purpose }) => [
            `${recipient}: ${location}`,
            `  ${categories.join(', ')}`,
            `  ${purpose}`,
          ]),
        ),
        section('Not here', [record.notKept, record.elsewhere]),
        section(
          'Answers to requests (GDPR)',
          record.rights.map(({ article, command: line }) => `article ${article}: ${app.command(line)}`),
        ),
      ],
      record,
    );
  },
});

const units = { booking: 'bookings', file: 'files', entry: 'entries' };

function describeEncryption(
  encryption: { readonly keys: string; readonly days: number; readonly since: string | null } | null,
): string {
  if (!encryption)
    return "none: guests' names in ledger, archive and spool are stored as they are (setting keys)";
  const { keys, days, since } = encryption;
  const held = `${formatCount(days)} day keys${since === null ? '' : `, since ${since}`}`;
  return `guests' names in ledger, archive and spool, under a key per business day (AES-256-GCM); keys in ${keys}: ${held}; destroyed with the names`;
}

/** Continuation lines are indented as far as the line. */
function section(title: string, lines: readonly string[]): string[] {
  return [`${title}:`, ...lines.flatMap((line) => wrapText(line, line.startsWith(' ') ? 6 : 2)), ''];
}

const fields = bookingFields.map(({ name }) => name);

/** The record of processing activities (GDPR article 30), as far as the configuration and the stored data show it. */
async function describeProcessing(app: App) {
  const { delivery, guestNames, service, source } = app.config;
  const looked = await look(app);
  const { ledger, runs, sftp, kept } = looked;
  const [latest] = runs
    .filter(({ source }) => source !== undefined)
    .toSorted((one, other) => other.startedAt - one.startedAt);
  const keys = app.keys();
  const keyDays = keys?.listDays() ?? [];
  // Whoever counts the archive's files reports the failure.
  const unknownFolders = await looked.unknown.catch(() => []);
  const receives = guestNames === 'omit' ? ['bookings'] : ['guest-names', 'bookings'];
  const reviews = 'reviews the mappings of the booked hotels';
  return {
    purpose:
      'reviewing that each booked hotel is mapped to the right hotel, so that no guest arrives at another one; proving afterwards what was sent',
    dataSubjects: ['guests of the booked hotels', 'the people who operate this installation'],
    categories: [
      { category: 'guest-names', fields: fields.filter((name) => guestNameFields.has(name)) },
      { category: 'bookings', fields: fields.filter((name) => !guestNameFields.has(name)) },
      ...(kept.length > 0 ? [{ category: 'kept-columns', fields: kept }] : []),
      { category: 'service-messages', fields: ["the service's responses, which may name guests"] },
      {
        category: 'users',
        fields: ['user names in the audit trail and in server.users', 'assignees of cases'],
      },
      { category: 'erased-guests', fields: ['keyed hashes (hashKey) of references and names'] },
    ],
    guestNames: { setting: guestNames, meaning: nameMeanings[guestNames] },
    source: `${source.kind}${latest?.source === undefined ? '' : `, last read from ${latest.source}`}`,
    places: await describePlaces(app, looked),
    ...unknownToJson(app.archive(), unknownFolders),
    encryption: keys ? { keys: keys.root, days: keyDays.length, since: keyDays[0] ?? null } : null,
    notKept:
      'Redis, logs, metrics, error messages, heartbeats and the pages of reports in the archive hold no guest names, and the pages no booking and no stay',
    elsewhere:
      'not removed by this installation: the source itself, and the copies that you make (backups, replicas, exported files)',
    writtenFiles: ledger ? await listWrittenFiles(ledger) : [],
    recipients: [
      {
        ...{ recipient: 'mapping service', location: service.baseUrl, categories: receives },
        purpose: delivery === 'file' ? `${reviews}: bookings that cannot be in the file` : reviews,
      },
      ...(sftp
        ? [
            {
              ...{ recipient: 'SFTP server', location: sftp, categories: receives },
              purpose: `${reviews}: the day's file`,
            },
          ]
        : []),
    ],
    rights: [
      { article: 15, command: 'guest export REFERENCE' },
      { article: 17, command: 'guest erase REFERENCE --reason TEXT' },
      { article: 17, command: 'guest purge' },
      { article: 25, command: 'privacy' },
      { article: 30, command: 'privacy' },
      { article: 32, command: 'doctor' },
      { article: 32, command: 'audit' },
    ],
  };
}

const nameMeanings: Readonly<Record<GuestNames, string>> = {
  send: 'names are sent and kept as given',
  omit: 'no name is sent or kept, and by file the reference stands in its column; what was sent before the setting was changed stays as it was',
};

/** Something that was counted; null if it could not be. */
interface Counted {
  readonly count: number | null;
  /** The first business day, or calendar day, of what is there now. */
  readonly since?: string | undefined;
}

type Place = readonly [
  place: string,
  location: string,
  counted: Counted | undefined,
  unit: keyof typeof units,
  categories: readonly string[],
  until: string,
];

/** What is known about this installation. */
async function look(app: App) {
  const { delivery, file, source } = app.config;
  const ledger = await app.findLedger();
  const runs = ledger ? await ledger.runs.list({ limit: runsLookedAt }) : [];
  const sent = countSentFiles(runs);
  // A source or exports may be read from it, too.
  const isSentTo = delivery === 'file' || (sent.count ?? 0) > 0;
  return {
    ...{ ledger, runs, sent },
    sftp: isSentTo && file.sftp && `sftp://${file.sftp.host}:${file.sftp.port}${file.sftp.root}`,
    kept: Object.keys(source.keep),
    unknown: findUnknownFolders(app.archive(), ledger).then(({ ours }) => ours),
  };
}

/** The places where this installation keeps personal data. */
async function describePlaces(
  app: App,
  { ledger, runs, unknown, sent, sftp, kept }: Awaited<ReturnType<typeof look>>,
) {
  const { config } = app;
  const { archive, file, guestNameDays, recordDays } = config;
  const namesUntil = `${guestNameDays} days after the business day (guestNameDays)`;
  const recordsUntil = `${recordDays} days after the business day (recordDays)`;
  const sentUntil =
    file.removeAfterDays === undefined
      ? 'its operator removes the files'
      : `${file.removeAfterDays} days after the business day (file.removeAfterDays), where the server permits it`;
  const countOrSay = async (location: string, count: () => Promise<Counted>): Promise<Counted> => {
    try {
      return await count();
    } catch (error) {
      app.say(`warning: ${location} could not be checked: ${describeError(error)}`);
      return { count: null };
    }
  };
  const inLedger = await showLedgerLocation(config);
  const inArchive = archive.kind === 's3' ? showS3Location({ ...archive }) : archive.path;
  const stored = await ledger?.guests.describeStored();
  const erasures = (await ledger?.guests.listErased()) ?? [];
  const erased = { count: erasures.length, since: erasures[0]?.at };
  const archived = await countOrSay(inArchive, async () => countArchived(app, runs, await unknown));
  const spooled = await countOrSay(file.spool, async () => ({ count: (await app.spool().list()).length }));
  const both = ['guest-names', 'bookings'];
  const ofNames = ['guest-names', ...(kept.length > 0 ? ['kept-columns'] : []), 'service-messages'];
  const ofMails = `${recordDays} days after they were read (recordDays); only where they were found, and which bookings they name`;
  const ofActions = `${recordDays} days after the entry (recordDays)`;
  const ofErased = 'for good: without them, a replay would bring an erased name back';
  const places: readonly Place[] = [
    ['ledger', inLedger, stored?.names, 'booking', ofNames, namesUntil],
    ['ledger', inLedger, stored?.bookings, 'booking', ['bookings'], recordsUntil],
    ['cases', inLedger, stored?.cases, 'booking', ['users', 'bookings'], recordsUntil],
    ['verdict e-mails that were read', inLedger, toDated(stored?.mails), 'entry', ['bookings'], ofMails],
    ['audit trail', inLedger, toDated(stored?.actions), 'entry', ['users', 'bookings'], ofActions],
    ['erased guests', inLedger, toDated(erased), 'entry', ['erased-guests'], ofErased],
    ['archive', inArchive, archived, 'file', both, `${namesUntil}; checksums stay`],
    ['spool', file.spool, spooled, 'file', both, `the file is archived, at the latest ${namesUntil}`],
    ...(sftp ? [['SFTP server', sftp, sent, 'file', both, sentUntil] as const] : []),
  ];
  return places.map(([place, location, { count, since = null } = { count: 0 }, unit, categories, until]) => ({
    ...{ place, location, count, unit, since },
    ...{ categories, until },
  }));
}

/** The files that may hold names: all but the manifests. */
async function countArchived(
  { archive }: App,
  runs: readonly Run[],
  unknown: readonly RunFolder[],
): Promise<Counted> {
  const waiting = runs.filter(({ delivery }) => delivery === 'file');
  let count = unknown.flatMap(({ names }) => names).length;
  let since = unknown.map(({ day }) => day).sort()[0];
  const look = async (): Promise<void> => {
    for (let run = waiting.pop(); run; run = waiting.pop()) {
      const { length: files } = await listArchived(archive(), run);
      if (files === 0) continue;
      count += files;
      if (since === undefined || run.day < since) since = run.day;
    }
  };
  await Promise.all(Array.from({ length: looksAtOnce }, look));
  return { count, since };
}

/** Each day has one file, and a later run replaces it. What we have removed does not count. */
function countSentFiles(runs: readonly Run[]): Counted {
  const wasRemoved = ({ file }: Run) =>
    file?.removals?.some(({ path, outcome }) => path === file.remotePath && outcome === 'removed') ?? false;
  const days = new Set(
    runs.flatMap((run) => (run.file?.remotePath === undefined || wasRemoved(run) ? [] : [run.day])),
  );
  return { count: days.size, since: [...days].sort()[0] };
}

/** Only the audit trail lists them. */
async function listWrittenFiles({ audit }: ReadOnlyLedger) {
  const files: { readonly at: string; readonly who: string; readonly path: string }[] = [];
  for await (const actions of readActions(audit)) {
    for (const { at, who, details } of actions) {
      const path = details?.out ?? details?.csv ?? details?.html;
      // What the desk sends is no file here: its entry says `"csv": true`.
      if (typeof path === 'string') files.push({ at: new Date(at).toISOString(), who, path });
    }
  }
  return files;
}

/** With the day of its instant. */
function toDated(
  found: { readonly count: number; readonly since?: number | undefined } | undefined,
): Counted | undefined {
  if (found?.since === undefined) return found && { count: found.count };
  return { count: found.count, since: new Date(found.since).toISOString().slice(0, 10) };
}
