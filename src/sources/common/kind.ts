import type { RetryPolicy } from '../../base/retry.js';
import type { BusinessDay } from '../../booking/business-day.js';
import type { BookingSource } from '../../booking/source.js';
import type { PeerClock } from '../../transports/http/peer-clocks.js';
import type { ProxyRules } from '../../transports/http/tunnel.js';
import type { S3Bucket } from '../../transports/s3/bucket.js';
import type { WantedColumns } from './columns.js';
import type { SampleDay } from './sample.js';

/** How a source sends messages to an operator while it is read. */
export interface SourceMessages {
  /** Writes one line at once. */
  say(text: string): void;
  /** Whether to show the messages of errors that a bookings module throws. They may quote a booking. */
  readonly showsModuleErrors: boolean;
}

/** The process facilities that sources need. */
export interface SourceParts {
  /** Opens a bucket. Called when something is read. */
  readonly openBucket: (bucket: string) => Promise<S3Bucket>;
  readonly retry: RetryPolicy;
  readonly clock: () => Date;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** How https connections leave this machine. */
  readonly proxy?: ProxyRules | undefined;
  /** Is told what an API's answers say about its clock. */
  readonly peerClock?: PeerClock | undefined;
  readonly sourceMessages: SourceMessages;
}

/** A file that holds bookings, or the code that reads them. */
export interface LocalFile {
  readonly path: string;
  readonly holds: 'bookings' | 'code';
}

/** A connection to a database, for the check that warns about one without encryption. */
interface DatabaseAddress {
  /** The setting that holds the address. */
  readonly setting: string;
  /** With user and password, which must not be shown. */
  readonly url: string;
}

/**
 * A kind of source. Each kind is a folder with its adapter, its settings and its sample, and one line in the registry.
 * Every command reads the settings, so they are imported statically and import little; the rest is loaded on demand.
 */
export interface SourceKind<Settings extends { readonly kind: string }> {
  /** What `source.kind` says. */
  readonly name: Settings['kind'];
  /** What the places of records count: `line`, `record` or `row`. */
  readonly placeUnit: string;
  /** Makes relative paths absolute. @param folder of the configuration file */
  resolve(settings: Settings, folder: string): Settings;
  open(settings: Settings & WantedColumns, parts: SourceParts): Promise<BookingSource>;
  /** Files with secrets, which only their owner may read. */
  listSecretFiles?(settings: Settings): readonly string[];
  /** The files on this machine that are read for a day, which other programs or people write. */
  listLocalFiles?(settings: Settings, day: BusinessDay): readonly LocalFile[];
  findDatabase?(settings: Settings): DatabaseAddress;
  /** The path that is the same for every day; undefined if it depends on the day. */
  findSamePath?(settings: Settings): string | undefined;
  openSample(settings: Settings, parts: SourceParts): Promise<SampleDay>;
}
