import type { VerdictWords } from './headings.js';
import {
  findPairs,
  hashCandidates,
  type KnownBooking,
  matchReferences,
  type PairMention,
} from './match-mail.js';
import { createMailReader, defaultLimits, type MailLimits, type ReadMail } from './read-mail.js';
import { UnreadableMailError } from './unreadable-mail.js';

/** What the ledger knows of what an e-mail may name. */
export interface KnownThings {
  readonly bookings: readonly KnownBooking[];
  /** The references of the canaries. */
  readonly canaries: readonly string[];
  /** The names of the providers. */
  readonly providers: readonly string[];
}

/** What an e-mail says, without its text. */
export interface ExaminedMail extends Omit<ReadMail, 'records'> {
  /** The known bookings that it names, by their place in the list. */
  readonly named: readonly number[];
  readonly canaries: readonly string[];
  /** How many known references it calls correct. */
  readonly correct: number;
  readonly pairs: readonly PairMention[];
  /** Whether a row calls something incorrect that is not known. */
  readonly accusesUnknown: boolean;
}

/** @param hashes of everything that may be a reference, in ascending order */
export type LookUp = (hashes: Uint32Array) => Promise<KnownThings>;

/**
 * Reads an e-mail, and finds what it names among what is known.
 *
 * @throws UnreadableMailError
 */
export type ExamineMail = (bytes: Buffer, lookUp: LookUp) => Promise<ExaminedMail>;

/** Pairs that one e-mail may name: more of them are a list of all mappings. */
const mostPairs = 20_000;

/** Examines e-mails in this process: see `mail-process.ts`. */
export function createMailExaminer(words: VerdictWords, limits: MailLimits = defaultLimits): ExamineMail {
  const read = createMailReader(words, limits);
  return async (bytes, lookUp) => {
    const { records, ...mail } = await read(bytes);
    const { bookings, canaries, providers } = await lookUp(hashCandidates(records));
    const placed = bookings.map((booking, place) => ({ ...booking, place }));
    const found = matchReferences(records, placed, canaries);
    const pairs = findPairs(found.rest, providers);
    if (pairs.length > mostPairs) throw new UnreadableMailError('too-many-rows');
    return {
      ...mail,
      named: found.named.map(({ place }) => place),
      canaries: found.canaries,
      correct: found.correct,
      pairs,
      accusesUnknown: found.rest.some(({ statement }) => statement === 'incorrect'),
    };
  };
}
