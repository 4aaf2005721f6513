import { join } from 'node:path';
import { businessDayAt, createBusinessDay } from '../../src/booking/business-day.js';
import type { SourceRecord } from '../../src/booking/source.js';
import { updateCases } from '../../src/cases/update-cases.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import type { Channel } from '../../src/notify/channel.js';
import { checkNotices } from '../../src/notify/check-notices.js';
import { createSender } from '../../src/notify/send-messages.js';
import { createBodyDelivery } from '../../src/review/body/body-delivery.js';
import { reportMissedCanaries } from '../../src/review/canary.js';
import type { Delivery } from '../../src/review/delivery.js';
import { createFileDelivery } from '../../src/review/file/file-delivery.js';
import { defaultResultPattern } from '../../src/review/file/remote-files.js';
import { defaultResultColumn, defaultResultValues } from '../../src/review/file/result.js';
import { type ReviewParts, reviewDay } from '../../src/review/review-day.js';
import type { DeliveryKind, Run } from '../../src/rules/run.js';
import type { ReviewService } from '../../src/service/client.js';
import { createDirectoryArchive } from '../../src/storage/archive.js';
import { createDirectorySpool } from '../../src/storage/spool.js';
import { createArraySource, readerOf } from '../review/array-source.js';
import { createJumpingWorkforce } from './jumping-workforce.js';
import { type Life, throughLife } from './life.js';
import type { Outside } from './outside.js';
import { type SftpDouble, sftpActions } from './sftp-double.js';

/**
 * All wiring to the inside: what a process of a day is made of, with every outside action passing through its
 * life.
 */

export const timezone = 'Europe/Madrid';
export const day = createBusinessDay('2026-11-20', timezone);
export const runId = '20261120-crashpts';
export const batchSize = 4;
const channelName = 'ops';
const dayMs = 86_400_000;
const unstopped = new AbortController().signal;
/** Of a retry with its jitter, and between two looks for a result. */
const longestWaitMs = 61_000;

export interface ProcessParts {
  readonly ledger: Ledger;
  readonly life: Life;
  readonly outside: Outside;
  readonly service: ReviewService;
  readonly sftp: SftpDouble;
  readonly folder: string;
  readonly delivery: DeliveryKind;
  readonly records: readonly SourceRecord[];
  /** A step begins only when the one before it is recorded. */
  readonly isSerial: boolean;
}

export interface DayProcess {
  /** Sends what waits to be told, reviews the day, follows up and tells people. */
  review(): Promise<Run>;
}

export function composeProcess(parts: ProcessParts): DayProcess {
  const { ledger, outside, delivery, records } = parts;
  const { clock } = outside;
  const deliveryFor = createDeliveries(parts);
  const dayParts: ReviewParts = {
    reader: readerOf(createArraySource([records])),
    limits: { maxRejectedShare: 1, emptyDay: 'fail', batchSize },
    canary: { serviceId: 7, providerName: 'Hotelbeds', providerHotelId: 'C1', withinMs: 3_600_000 },
    clock,
    notify: () => {},
    ledger,
    deliveryFor,
    workforce: createJumpingWorkforce({ ...parts, longestWaitMs }, deliveryFor),
    mayReview: async () => {},
    beforeSending: async () => {},
    createRunId: () => runId,
  };
  const tell = createTelling(parts);
  return {
    async review() {
      await tell();
      const request = { mode: 'run', trigger: 'manual', day, configuredDelivery: delivery } as const;
      const { run } = await reviewDay(request, dayParts, unstopped);
      await reportMissedCanaries(ledger, clock(), () => {});
      const today = businessDayAt(new Date(clock()), timezone).iso;
      await updateCases({ ledger, today, escalateAfterMs: 3 * dayMs, clock });
      await tell();
      return run;
    },
  };
}

function createDeliveries(parts: ProcessParts): (kind: DeliveryKind) => Delivery {
  const { ledger, life, outside, sftp, folder } = parts;
  const service = throughLife(life, 'service', parts.service, [
    'reviewBookedHotels',
    'reviewBookedHotelsByFile',
  ]);
  const connect: SftpDouble['connect'] = (options) =>
    life.pass('sftp.connect', async () =>
      throughLife(life, 'sftp', await sftp.connect(options), sftpActions),
    );
  const body = createBodyDelivery({
    service,
    masterIdName: 'ServiceId',
    batchSize,
    findCanary: ledger.canaries.find,
  });
  const file = createFileDelivery({
    body,
    ledger,
    service,
    timezone,
    sftp: { connect },
    spool: throughLife(life, 'spool', createDirectorySpool({ root: join(folder, 'spool') }), [
      'write',
      'remove',
    ]),
    archive: throughLife(
      life,
      'archive',
      createDirectoryArchive({ root: join(folder, 'archive'), account: 'an-account' }),
      ['store', 'remove'],
    ),
    masterIdColumn: 'Service Mappings Id',
    incomplete: 'post',
    pathPrefix: '',
    resultPattern: defaultResultPattern,
    resultNames: 'all',
    resultColumn: defaultResultColumn,
    resultValues: defaultResultValues,
    maxUnansweredShare: 0,
    stepMs: 3_600_000,
    resultPollMs: 60_000,
    resultQuietMs: 300_000,
    resultTimeoutMs: 21_600_000,
    tool: 'booked-hotel-review 9.9.9',
    clock: outside.clock,
    notify: () => {},
  });
  return (kind) => (kind === 'file' ? file : body);
}

/** What `notify` does for a channel that wants everything. */
function createTelling({ ledger, life, outside }: ProcessParts): () => Promise<void> {
  const { clock, random, log, nextId } = outside;
  const channel: Channel = {
    name: channelName,
    async send({ id, title }) {
      log.push({ kind: 'message', id, says: title });
    },
    close: async () => {},
  };
  const sender = createSender({
    store: ledger.notices,
    channels: [throughLife(life, 'channel', channel, ['send'])],
    compose: async (notices) => ({
      title: notices.map(({ event, stage, subject }) => `${event} ${stage}: ${subject}`).join(', '),
      text: '',
    }),
    clock,
    random,
    notify: () => {},
  });
  const checks = {
    ...{ ledger, timezone, clock, exportPatienceMs: dayMs },
    findLateDays: async () => [],
    measureFree: async () => [],
    findDigest: async () => undefined,
  };
  return async () => {
    await ledger.notices.noteFirst('notify', clock());
    await checkNotices(checks);
    const plan = { channel: channelName, dueAt: clock() };
    await ledger.notices.route(() => [{ id: nextId(), ...plan }], clock());
    await sender.sendDue(unstopped, { isLast: true });
  };
}
