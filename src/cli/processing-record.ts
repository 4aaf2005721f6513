import { bookingFields, guestNameFields } from '../booking/booking.js';
import type { GuestNames } from '../review/guest-names.js';
import type { DeliveryKind } from '../review/run.js';

type Category = 'guest-names' | 'kept-columns' | 'bookings' | 'service-messages' | 'users' | 'erased-guests';

type Unit = 'booking' | 'file' | 'entry';

/** A place where this installation keeps personal data. */
export interface Place {
  readonly place: string;
  readonly location: string;
  readonly categories: readonly Category[];
  /** Null if the place could not be examined. */
  readonly count: number | null;
  readonly unit: Unit;
  /** The first business day, or calendar day, of what is there now. */
  readonly since: string | null;
  readonly until: string;
}

export interface Recipient {
  readonly recipient: string;
  readonly location: string;
  readonly categories: readonly Category[];
  readonly purpose: string;
}

/** What encrypts guests' names at rest. */
export interface Encryption {
  /** The folder of the day keys. */
  readonly keys: string;
  /** The days that have a key now. */
  readonly days: number;
  /** The first of them. */
  readonly since: string | null;
}

/** Something that was counted, or why it could not be. */
export interface Counted {
  readonly count: number | null;
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
  /** Undefined if nothing is encrypted. */
  readonly encryption?: Encryption | undefined;
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
  return {
    purpose:
      'reviewing that each booked hotel is mapped to the right hotel, so that no guest arrives at another one; proving afterwards what was sent',
    dataSubjects: ['guests of the booked hotels', 'the people who operate this installation'],
    categories: [
      { category: 'guest-names', fields: fields.filter((name) => guestNameFields.has(name)) },
      { category: 'bookings', fields: fields.filter((name) => !guestNameFields.has(name)) },
      ...(installation.keptColumns.length > 0
        ? [{ category: 'kept-columns' as const, fields: installation.keptColumns }]
        : []),
      { category: 'service-messages', fields: ["the service's responses, which may name guests"] },
      {
        category: 'users',
        fields: ['user names in the audit trail and in server.users', 'assignees of cases'],
      },
      { category: 'erased-guests', fields: ['keyed hashes (hashKey) of references and names'] },
    ],
    guestNames: { setting: installation.guestNames, meaning: nameMeanings[installation.guestNames] },
    source: installation.source,
    places: describePlaces(installation),
    encryption: installation.encryption ?? null,
    notKept:
      'Redis, logs, metrics, error messages, heartbeats and the pages of reports in the archive hold no guest names, and the pages no booking and no stay',
    elsewhere:
      'not removed by this installation: the source itself, and the copies that you make (backups, replicas, exported files)',
    writtenFiles: installation.writtenFiles,
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

const nameMeanings = {
  send: 'names are sent and kept as given',
  omit: 'no name is sent or kept, and by file the reference stands in its column; what was sent before the setting was changed stays as it was',
} as const satisfies Record<GuestNames, string>;

export type ProcessingRecord = ReturnType<typeof describeProcessing>;

function describePlaces({ kept, keptColumns, guestNameDays, recordDays, ...where }: Installation): Place[] {
  const namesUntil = `${guestNameDays} days after the business day (guestNameDays)`;
  const recordsUntil = `${recordDays} days after the business day (recordDays)`;
  const place = (name: string, location: string, unit: Unit, { count, since }: Counted) => ({
    place: name,
    location,
    count,
    unit,
    since: since ?? null,
  });
  const byFile: Place[] = [
    {
      ...place('archive', where.archive, 'file', kept.archived),
      categories: ['guest-names', 'bookings'],
      until: `${namesUntil}; checksums stay`,
    },
    {
      ...place('spool', where.spool, 'file', kept.spooled),
      categories: ['guest-names', 'bookings'],
      until: `the file is archived, at the latest ${namesUntil}`,
    },
  ];
  const server: Place[] = where.sftp
    ? [
        {
          ...place('SFTP server', where.sftp, 'file', kept.sentFiles),
          categories: ['guest-names', 'bookings'],
          until:
            where.removeAfterDays === undefined
              ? 'its operator removes the files'
              : `${where.removeAfterDays} days after the business day (file.removeAfterDays), where the server permits it`,
        },
      ]
    : [];
  return [
    {
      ...place('ledger', where.ledger, 'booking', kept.names),
      categories: [
        'guest-names',
        ...(keptColumns.length > 0 ? (['kept-columns'] as const) : []),
        'service-messages',
      ],
      until: namesUntil,
    },
    {
      ...place('ledger', where.ledger, 'booking', kept.bookings),
      categories: ['bookings'],
      until: recordsUntil,
    },
    {
      ...place('cases', where.ledger, 'booking', kept.cases),
      categories: ['users', 'bookings'],
      until: recordsUntil,
    },
    {
      ...place('verdict e-mails that were read', where.ledger, 'entry', kept.mails),
      categories: ['bookings'],
      until: `${recordDays} days after they were read (recordDays); only where they were found, and which bookings they name`,
    },
    {
      ...place('audit trail', where.ledger, 'entry', kept.actions),
      categories: ['users', 'bookings'],
      until: `${recordDays} days after the entry (recordDays)`,
    },
    {
      ...place('erased guests', where.ledger, 'entry', kept.erased),
      categories: ['erased-guests'],
      until: 'for good: without them, a replay would bring an erased name back',
    },
    ...byFile,
    ...server,
  ];
}

function describeRecipients({ service, sftp, delivery, guestNames }: Installation): Recipient[] {
  const categories: readonly Category[] = guestNames === 'omit' ? ['bookings'] : ['guest-names', 'bookings'];
  const purpose = 'reviews the mappings of the booked hotels';
  return [
    {
      recipient: 'mapping service',
      location: service,
      categories,
      purpose: delivery === 'file' ? `${purpose}: bookings that cannot be in the file` : purpose,
    },
    ...(sftp
      ? [{ recipient: 'SFTP server', location: sftp, categories, purpose: `${purpose}: the day's file` }]
      : []),
  ];
}
