import { createHash } from 'node:crypto';
import { buildBooking, type ServiceField, textFields } from '../../booking/booking.js';
import type { GuestNames } from '../../booking/guest-names.js';
import { sliceLines } from '../../ledger/batches.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { Run } from '../../rules/run.js';
import type { Evidence, Outcome, PlannedStep, Slice } from '../../rules/step.js';
import type { ReviewService } from '../../service/client.js';
import type { Verdict } from '../../service/verdict.js';
import type { BookingForms, Delivery, LineForm } from '../delivery.js';
import { type LineLayout, markPlain, renderLine, type TextForm } from '../render-line.js';

/** Delivers a day by POSTing its bookings in batches. (Spec 4.2.) */
export function createBodyDelivery({
  service,
  masterIdName,
  batchSize,
  names,
  findCanary,
}: {
  readonly service: Pick<ReviewService, 'reviewBookedHotels'>;
  readonly masterIdName: string;
  readonly batchSize: number;
  readonly names?: GuestNames;
  /** Needed for runs with a canary. */
  readonly findCanary?: ReadOnlyLedger['canaries']['find'];
}): Delivery {
  async function post(body: Buffer, signal: AbortSignal): Promise<Outcome> {
    const calling = service.reviewBookedHotels(body, { signal });
    // Hashed while the service is already reading the bytes.
    const sha256 = createHash('sha256').update(body).digest('hex');
    return toServiceOutcome(await calling, sha256);
  }

  async function renderCanary({ id }: Run): Promise<Buffer> {
    const canary = await findCanary?.(id);
    if (!canary) throw new RangeError(`no canary of run ${id} in the ledger`);
    return buildRequestBody(Buffer.from(`${canary.line}\n`), { first: 0, bookings: 1 });
  }

  return {
    ...createBodyForms(masterIdName, names),
    plan: ({ body }) => planBatches(body, batchSize),
    async perform({ step, run, lines }, signal) {
      if (step.kind === 'canary') return post(await renderCanary(run), signal);
      if (!step.slice) throw new TypeError(`expected a batch, got: ${step.name}`);
      if (!lines) throw new RangeError(`no ${step.slice.form} batch ${step.slice.batch} in the ledger`);
      return post(buildRequestBody(lines, step.slice), signal);
    },
  };
}

/**
 * What a call's verdict means for the step that made the call.
 *
 * @param sha256 of the bytes sent for review
 */
export function toServiceOutcome(verdict: Verdict, sha256: string): Outcome {
  const { code, httpStatus, statusCode, answer } = verdict;
  const evidence: Evidence = { code, httpStatus, statusCode, answer, sha256 };
  switch (verdict.kind) {
    case 'accepted':
      return { kind: 'done', evidence };
    case 'retryable': {
      const { outcomeUnknown, retryAfterMs, refusedWhenSpent } = verdict;
      return { kind: 'retryable', evidence, outcomeUnknown, retryAfterMs, refusedWhenSpent };
    }
    case 'refused':
      return { kind: 'refused', evidence };
    case 'fatal':
      return { kind: 'fatal', evidence, advice: 'check service.baseUrl, apiKey and accountId' };
  }
}

/** One step per stored batch: `batch 0`, `batch 1`, … */
export function planBatches(bookings: number, batchSize: number): PlannedStep[] {
  const count = Math.ceil(bookings / batchSize);
  return Array.from({ length: count }, (_, batch) =>
    batchStep(`batch ${batch}`, {
      form: 'body',
      batch,
      first: 0,
      bookings: Math.min(batchSize, bookings - batch * batchSize),
    }),
  );
}

/**
 * The two steps that replace a batch refused for its content: `batch 12.0` and `batch 12.1`. Halving continues until
 * the offending booking is alone.
 */
export function halveBatch(
  step: PlannedStep & { readonly slice: Slice },
): readonly [PlannedStep, PlannedStep] {
  const { first, bookings } = step.slice;
  const half = Math.ceil(bookings / 2);
  return [
    batchStep(`${step.name}.0`, { ...step.slice, bookings: half }),
    batchStep(`${step.name}.1`, { ...step.slice, first: first + half, bookings: bookings - half }),
  ];
}

function batchStep(name: string, slice: Slice): PlannedStep {
  return { name, kind: 'batch', slice, bookings: slice.bookings };
}

/** The inside of a JSON string, as JSON.stringify writes it. */
const jsonText: TextForm = {
  plain: markPlain((character) => JSON.stringify(character) === `"${character}"`),
  escape: (text) => JSON.stringify(text).slice(1, -1),
  after: Buffer.from('"'),
};
/** Written before the text of each field. */
const beforeTexts = textFields.map(({ name }) => Buffer.from(`,"${name}":"`));
const beforeText = ',"';
const beforeProviderName = ',"ProviderName":"';
const betweenNameAndId = '","ProviderHotelId":"';

/**
 * Reads rendered items. They are searched for texts that can't occur inside a value, where a quote is escaped.
 */
export const itemForm: LineForm = {
  readBooking(line) {
    const fields = JSON.parse(line) as Readonly<Partial<Record<ServiceField, string>>>;
    // The master id comes first, whatever it was called when the line was rendered.
    const [serviceId] = Object.values(fields);
    const texts = textFields.map(({ name }) => fields[name]);
    return buildBooking(Number(serviceId), texts);
  },
  findHotel(line) {
    const start = line.indexOf(beforeProviderName);
    const middle = start === -1 ? -1 : line.indexOf(betweenNameAndId, start);
    if (middle === -1) return undefined;
    const idEnd = line.indexOf(beforeText);
    return {
      serviceId: Number(line.slice(line.lastIndexOf(':', idEnd) + 1, idEnd)),
      key: line.slice(
        start + beforeProviderName.length,
        findClosingQuote(line, middle + betweenNameAndId.length),
      ),
    };
  },
  readProviderHotel(key) {
    const { ProviderName, ProviderHotelId } = JSON.parse(`{"ProviderName":"${key}"}`) as {
      ProviderName: string;
      ProviderHotelId: string;
    };
    return { providerName: ProviderName, providerHotelId: ProviderHotelId };
  },
  writeProviderHotel: ({ providerName, providerHotelId }) =>
    `${jsonText.escape(providerName)}${betweenNameAndId}${jsonText.escape(providerHotelId)}`,
  findProvider(line) {
    const before = line.indexOf(beforeProviderName);
    if (before === -1) return undefined;
    const start = before + beforeProviderName.length;
    return line.slice(start, findClosingQuote(line, start));
  },
  blankFields(line, blanked) {
    const fields = Object.entries(JSON.parse(line) as Record<string, unknown>);
    return JSON.stringify(Object.fromEntries(fields.filter(([name]) => !blanked.has(name))));
  },
};

/** The end of the JSON string that contains `from`. */
function findClosingQuote(line: string, from: number): number {
  let at = line.indexOf('"', from);
  while (isEscaped(line, at)) at = line.indexOf('"', at + 1);
  return at;
}

/** True after an odd number of backslashes. */
function isEscaped(line: string, at: number): boolean {
  let first = at;
  while (line[first - 1] === '\\') first -= 1;
  return (at - first) % 2 === 1;
}

/**
 * Stores every booking as an element of `Hotels` (spec 2.5), compact, without missing fields: what JSON.stringify writes, in a
 * third of the time. JSON strings contain no line ends, so an item is one line.
 */
export function createBodyForms(masterIdName: string, names: GuestNames = 'send'): BookingForms {
  const layout: LineLayout = {
    beginning: Buffer.from(`{${JSON.stringify(masterIdName)}:`),
    beforeTexts,
    text: jsonText,
    writeDate: (iso) => iso,
    missing: Buffer.alloc(0),
    ending: Buffer.from('}'),
  };
  return {
    kind: 'body',
    names,
    formOf: () => 'body',
    render: (booking, _form, line) => renderLine(booking, layout, line),
    usual: { form: 'body', layout, mayLackFields: true, standsForName: false },
  };
}

const head = Buffer.from('{"Hotels":[');
const tail = Buffer.from(']}');
const lineFeed = 0x0a;
const comma = 0x2c;

/**
 * Builds the request body (spec 4.2) of a slice by copying the stored lines of its batch. Line feeds end the items
 * and occur nowhere else, so replacing them by commas makes the lines an array.
 */
export function buildRequestBody(lines: Buffer, slice: Pick<Slice, 'first' | 'bookings'>): Buffer {
  const items = sliceLines(lines, slice);
  const body = Buffer.concat([head, items.subarray(0, -1), tail]);
  for (let at = body.indexOf(lineFeed); at !== -1; at = body.indexOf(lineFeed, at + 1)) body[at] = comma;
  return body;
}
