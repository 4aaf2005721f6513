import { bookingFields, guestNameFields } from '../booking/booking.js';
import type { GuestNames } from '../booking/guest-names.js';
import type { DeliveryKind } from '../ledger/run.js';

/** Something that was counted; null if it could not be. */
export interface Counted {
  readonly count: number | null;
  /** The first business day, or calendar day, of what is there now. */
  readonly since?: string | undefined;
}

/** What is known about this installation. */
export interface Installation {
  readonly delivery: DeliveryKind;
  readonly guestNames: GuestNames;
  /** The names of the columns of `source.keep`. */
  readonly keptColumns: readonly string[];
  readonly guestNameDays: number;
  readonly recordDays: number;
  readonly ledger: string;
  readonly archive: string;
  readonly spool: string;
  readonly service: string;
  /** Absent if none is configured. */
  readonly sftp?: string | undefined;
  readonly source: string;
  /** Absent if nothing is removed from the SFTP server. */
  readonly removeAfterDays?: number | undefined;
  /** The folder of the day keys, the days that have one now, and the first of them; null if nothing is encrypted. */
  readonly encryption: {
    readonly keys: string;
    readonly days: number;
    readonly since: string | null;
  } | null;
  /** What is kept now. */
  readonly kept: Readonly<
    Record<
      'names' | 'bookings' | 'cases' | 'mails' | 'actions' | 'erased' | 'archived' | 'spooled' | 'sentFiles',
      Counted
    >
  >;
  /** Files that people exported, newest last. */
  readonly writtenFiles: readonly { readonly at: string; readonly who: string; readonly path: string }[];
}

const fields = bookingFields.map(({ name }) => name);

/** The record of processing activities (GDPR article 30), as far as the configuration and the stored data show it. */
export function describeProcessing(installation: Installation) {
  const { keptColumns, guestNames, source, encryption, writtenFiles } = installation;
  return {
    purpose:
      'reviewing that each booked hotel is mapped to the right hotel, so that no guest arrives at another one; proving afterwards what was sent',
    dataSubjects: ['guests of the booked hotels', 'the people who operate this installation'],
    categories: [
      { category: 'guest-names', fields: fields.filter((name) => guestNameFields.has(name)) },
      { category: 'bookings', fields: fields.filter((name) => !guestNameFields.has(name)) },
      ...(keptColumns.length > 0 ? [{ category: 'kept-columns', fields: keptColumns }] : []),
      { category: 'service-messages', fields: ["the service's responses, which may name guests"] },
      {
        category: 'users',
        fields: ['user names in the audit trail and in server.users', 'assignees of cases'],
      },
      { category: 'erased-guests', fields: ['keyed hashes (hashKey) of references and names'] },
    ],
    guestNames: { setting: guestNames, meaning: nameMeanings[guestNames] },
    source,
    places: describePlaces(installation),
    encryption,
    notKept:
      'Redis, logs, metrics, error messages, heartbeats and the pages of reports in the archive hold no guest names, and the pages no booking and no stay',
    elsewhere:
      'not removed by this installation: the source itself, and the copies that you make (backups, replicas, exported files)',
    writtenFiles,
    recipients: describeRecipients(installation),
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

/** The places where this installation keeps personal data. */
function describePlaces({ kept, keptColumns, guestNameDays, recordDays, ...where }: Installation) {
  const namesUntil = `${guestNameDays} days after the business day (guestNameDays)`;
  const recordsUntil = `${recordDays} days after the business day (recordDays)`;
  const held = ({ count, since }: Counted, unit: 'booking' | 'file' | 'entry') => ({
    count,
    unit,
    since: since ?? null,
  });
  return [
    {
      ...{ place: 'ledger', location: where.ledger, ...held(kept.names, 'booking') },
      categories: ['guest-names', ...(keptColumns.length > 0 ? ['kept-columns'] : []), 'service-messages'],
      until: namesUntil,
    },
    {
      ...{ place: 'ledger', location: where.ledger, ...held(kept.bookings, 'booking') },
      categories: ['bookings'],
      until: recordsUntil,
    },
    {
      ...{ place: 'cases', location: where.ledger, ...held(kept.cases, 'booking') },
      categories: ['users', 'bookings'],
      until: recordsUntil,
    },
    {
      ...{ place: 'verdict e-mails that were read', location: where.ledger, ...held(kept.mails, 'entry') },
      categories: ['bookings'],
      until: `${recordDays} days after they were read (recordDays); only where they were found, and which bookings they name`,
    },
    {
      ...{ place: 'audit trail', location: where.ledger, ...held(kept.actions, 'entry') },
      categories: ['users', 'bookings'],
      until: `${recordDays} days after the entry (recordDays)`,
    },
    {
      ...{ place: 'erased guests', location: where.ledger, ...held(kept.erased, 'entry') },
      categories: ['erased-guests'],
      until: 'for good: without them, a replay would bring an erased name back',
    },
    {
      ...{ place: 'archive', location: where.archive, ...held(kept.archived, 'file') },
      categories: ['guest-names', 'bookings'],
      until: `${namesUntil}; checksums stay`,
    },
    {
      ...{ place: 'spool', location: where.spool, ...held(kept.spooled, 'file') },
      categories: ['guest-names', 'bookings'],
      until: `the file is archived, at the latest ${namesUntil}`,
    },
    ...(where.sftp
      ? [
          {
            ...{ place: 'SFTP server', location: where.sftp, ...held(kept.sentFiles, 'file') },
            categories: ['guest-names', 'bookings'],
            until:
              where.removeAfterDays === undefined
                ? 'its operator removes the files'
                : `${where.removeAfterDays} days after the business day (file.removeAfterDays), where the server permits it`,
          },
        ]
      : []),
  ];
}

function describeRecipients({ service, sftp, delivery, guestNames }: Installation) {
  const categories = guestNames === 'omit' ? ['bookings'] : ['guest-names', 'bookings'];
  const purpose = 'reviews the mappings of the booked hotels';
  return [
    {
      ...{ recipient: 'mapping service', location: service, categories },
      purpose: delivery === 'file' ? `${purpose}: bookings that cannot be in the file` : purpose,
    },
    ...(sftp
      ? [{ recipient: 'SFTP server', location: sftp, categories, purpose: `${purpose}: the day's file` }]
      : []),
  ];
}
