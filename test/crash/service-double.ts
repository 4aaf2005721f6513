import type { CallResult } from '../../src/service/call-result.js';
import type { ReviewService } from '../../src/service/client.js';
import { ok, refusal, unavailable } from '../review/scripted-service.js';
import type { Outside } from './outside.js';
import type { SftpDouble } from './sftp-double.js';

/** What goes wrong at the service, by the booking that shows it. */
export interface Troubles {
  /** Refused, and with it every request that holds it. */
  readonly refused?: string;
  /** The first request with it gets a 503. */
  readonly unavailableOnce?: string;
  /** The first request with it is accepted, and the answer gets lost. */
  readonly unansweredOnce?: string;
  /** Incorrectly mapped, says the result of a file. */
  readonly incorrect?: string;
  /** So is this one, says the result when it is written again, a minute after the call. */
  readonly incorrectLater?: string;
}

/** From the call to the first half of its result, to the whole of it, and to another one in its place. */
const [halfAfterMs, wholeAfterMs, rewrittenAfterMs] = [700, 2_000, 60_000];

const unanswered: CallResult = {
  kind: 'retryable',
  code: 'timeout',
  outcomeUnknown: true,
  refusedWhenSpent: false,
};

/** The service by its contract: it reviews what it gets, as often as it gets it. */
export function createServiceDouble(
  { clock, log }: Outside,
  sftp: SftpDouble,
  troubles: Troubles,
): ReviewService {
  const over = new Set<string>();

  /** Whether this request is the first one with that booking. */
  function isFirst(references: readonly string[], reference: string | undefined): boolean {
    if (reference === undefined || over.has(reference) || !references.includes(reference)) return false;
    over.add(reference);
    return true;
  }

  function judge(references: readonly string[]): CallResult {
    if (isFirst(references, troubles.unavailableOnce)) return unavailable;
    if (isFirst(references, troubles.unansweredOnce)) return unanswered;
    return troubles.refused !== undefined && references.includes(troubles.refused) ? refusal : ok;
  }

  return {
    async reviewBookedHotels(body) {
      const { Hotels } = JSON.parse(Buffer.from(body).toString()) as {
        Hotels: { BookingReferenceId: string }[];
      };
      const references = Hotels.map(({ BookingReferenceId }) => BookingReferenceId);
      const result = judge(references);
      const isAccepted = result === ok || result === unanswered;
      log.push({
        kind: 'call',
        references,
        isAccepted,
        isAnswered: result !== unanswered,
        isNeedless: false,
      });
      return result;
    },

    async reviewBookedHotelsByFile(path) {
      const file = sftp.read(path);
      if (file === undefined) return { kind: 'fatal', code: 'http-404', httpStatus: 404 };
      const [header = '', ...lines] = file.toString().trimEnd().split('\n');
      const references = lines.map((line) => line.split(',')[1] ?? '');
      const resultPath = path.replace(/\.csv$/, '_Result.csv');
      const isNeedless = references.some((reference) =>
        `${sftp.read(resultPath)}`.includes(`,${reference},`),
      );
      log.push({ kind: 'call', references, isAccepted: true, isAnswered: true, isNeedless });
      const result = (count: number, ...incorrect: readonly (string | undefined)[]) => {
        const isCorrect = (index: number) => !incorrect.includes(references[index]);
        const rows = lines
          .slice(0, count)
          .map((line, index) => `${line},${isCorrect(index) ? 'True' : 'False'}`);
        return [`${header},IsCorrectMapping`, ...rows, ''].join('\n');
      };
      const { incorrect, incorrectLater } = troubles;
      sftp.put(resultPath, result(lines.length / 2, incorrect), clock() + halfAfterMs);
      sftp.put(resultPath, result(lines.length, incorrect), clock() + wholeAfterMs);
      if (incorrectLater !== undefined)
        sftp.put(resultPath, result(lines.length, incorrect, incorrectLater), clock() + rewrittenAfterMs);
      return ok;
    },
  };
}
