import { businessDayAt } from '../../booking/business-day.js';
import { historyToJson, readHistories } from '../../cases/shown-bookings.js';
import { type CanaryJson, canaryToJson } from '../../ledger/canaries.js';
import { createErasedTest, readErasedGuests } from '../../ledger/erasing.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import { keyOfHotel, type MappingJson, mappingToJson, type ProviderHotel } from '../../ledger/mappings.js';
import type { DeliveryKind, Trigger } from '../../ledger/run.js';
import type { Trace } from '../../ledger/tracing.js';
import { readBooking } from '../../review/stored/stored-line.js';
import type { Silence } from '../../review/verdict.js';
import { UsageError } from '../../text/usage-error.js';
import type { DeskVisit } from '../page.js';

export interface BookingParts {
  readonly ledger: ReadOnlyLedger;
  readonly timezone: string;
  /** Recognises erased guests; undefined if not configured. */
  readonly hashKey: string | undefined;
  /** What silence was agreed to mean, if anything. */
  readSilence(now: number): Promise<Silence | undefined>;
}

/** What is known about a booking reference. */
export interface BookingData {
  /** Null if none was asked for. */
  readonly reference: string | null;
  /** Whether the service's words are included. */
  readonly answers: boolean;
  /** Whether a guest with this reference was erased; null if that can't be told. */
  readonly isErased: boolean | null;
  readonly canary?: CanaryJson;
  /** The newest run first. */
  readonly bookings: readonly BookingInRun[];
  /** Each pair under which it was booked, as the local copy has it. */
  readonly mappings: readonly (ProviderHotel & { readonly copied: MappingJson | null })[];
}

/** A booking in one run: what `show --json` prints, and more. */
export interface BookingInRun extends ReturnType<typeof historyToJson> {
  readonly delivery: DeliveryKind;
  readonly trigger: Trigger;
  /** The number of its row in the file, without the header; null for a booking that went by body. */
  readonly fileRow: number | null;
  readonly deliveredAt: string | null;
  readonly guest: { readonly state: NameState; readonly name: string | null } | null;
}

/** Why a guest's name is here, or why not. */
export type NameState = 'shown' | 'masked' | 'left-out' | 'removed' | 'erased' | 'not-given';

type TracedHistory = Awaited<ReturnType<typeof readHistories>>[number];

interface Asked {
  readonly reference: string;
  /** Whether to include the service's words. */
  readonly answers: boolean;
}

export async function readBookingData(
  parts: BookingParts,
  { reference, answers }: Asked,
  visit: Pick<DeskVisit, 'may' | 'now'>,
): Promise<BookingData> {
  const { ledger, timezone } = parts;
  const { now } = visit;
  const none = { reference, answers, isErased: false, bookings: [], mappings: [] };
  const canary = await ledger.canaries.findByReference(reference);
  if (canary) return { ...none, canary: canaryToJson(canary, now) };
  const showsGuest = visit.may('see-names');
  const today = businessDayAt(new Date(now), timezone).iso;
  const silence = await parts.readSilence(now);
  const traced = await readHistories(ledger, reference, { answers, showsGuest, silence, today, now });
  if (traced.length === 0) return { ...none, isErased: await isErased(parts, reference) };
  const bookings: BookingInRun[] = [];
  for (const one of traced) bookings.push(await toBookingInRun(ledger, one, showsGuest));
  return { ...none, bookings, mappings: await readMappings(ledger, traced) };
}

async function toBookingInRun(
  ledger: ReadOnlyLedger,
  { trace, history }: TracedHistory,
  showsGuest: boolean,
): Promise<BookingInRun> {
  const { delivery, trigger } = trace.run;
  const delivered = history.attempts?.findLast(({ outcome }) => outcome === 'done');
  return {
    ...historyToJson(history),
    delivery,
    trigger,
    fileRow: trace.kind === 'booking' && trace.form === 'file' ? trace.position + 1 : null,
    deliveredAt: history.state === 'delivered' ? (delivered?.endedAt ?? null) : null,
    guest: trace.kind === 'booking' ? await readGuest(ledger, trace, showsGuest) : null,
  };
}

type BookingTrace = Extract<Trace, { readonly kind: 'booking' }>;

async function readGuest(ledger: ReadOnlyLedger, trace: BookingTrace, showsGuest: boolean) {
  const name = readBooking(trace.line, trace.form).bookingClientName;
  const state =
    name === undefined ? await explainMissingName(ledger, trace) : showsGuest ? 'shown' : 'masked';
  return { state, name: state === 'shown' ? (name ?? null) : null };
}

async function explainMissingName(
  ledger: ReadOnlyLedger,
  { run, form, batch }: BookingTrace,
): Promise<NameState> {
  if (run.guestNames === 'omit') return 'left-out';
  if (run.linesBlanked || run.namesBlankedAt !== undefined) return 'removed';
  const erased = await ledger.guests.listErasedContents(run.id);
  const isErased = erased.some(({ place, name }) => place === 'ledger' && name === `${form} batch ${batch}`);
  return isErased ? 'erased' : 'not-given';
}

/** Whether a guest with that reference was erased; null without the key that would tell. */
async function isErased({ ledger, hashKey }: BookingParts, bookingReferenceId: string) {
  try {
    const erased = await readErasedGuests(ledger, hashKey);
    return erased !== undefined && createErasedTest(erased).is({ serviceId: 0, bookingReferenceId });
  } catch (error) {
    if (error instanceof UsageError) return null;
    throw error;
  }
}

async function readMappings(
  { mappings }: BookingParts['ledger'],
  traced: readonly TracedHistory[],
): Promise<BookingData['mappings']> {
  const pairs = new Map<string, ProviderHotel>();
  for (const { trace } of traced) {
    if (trace.kind === 'reject') continue;
    const { providerName, providerHotelId } = readBooking(trace.line, trace.form);
    if (providerName === undefined || providerHotelId === undefined) continue;
    pairs.set(keyOfHotel({ providerName, providerHotelId }), { providerName, providerHotelId });
  }
  return Promise.all(
    [...pairs.values()].map(async (pair) => {
      const found = await mappings.find(pair);
      return { ...pair, copied: found ? mappingToJson(found.mapping, found.moves) : null };
    }),
  );
}
