import { describe, expect, it } from 'vitest';
import type { ExportEvent } from '../../src/mappings/events.js';
import { createLogObserver, type LogLevel, openLog } from '../../src/notify/events.js';
import type { ReviewEvent } from '../../src/review/events.js';
import { someRun } from '../review/some-run.js';
import { captureStream } from '../support/captured-stream.js';
import {
  collected,
  collecting,
  fileStepEnded,
  opened,
  step,
  stepEnded,
  transferring,
} from './review-events.js';

const failure = { class: 'fatal', code: 'http-403', message: 'the service turned it down' } as const;
const run = { id: someRun().id, day: someRun().day };
const everything: readonly (ReviewEvent | ExportEvent)[] = [
  opened(),
  collecting(500, 250),
  { type: 'source-notice', run, notice: { kind: 'absent-column', column: 'guest' } },
  collected(1_000),
  { type: 'step-claimed', run, step, attempt: 1 },
  stepEnded(500, 1_000),
  refused(),
  transferring(1_000_000, 4_000_000),
  fileStepEnded('upload', 'retry', 'sftp-disk-full'),
  fileStepEnded('await-result', 'retry', 'result-absent'),
  fileStepEnded('await-result', 'overdue', 'result-absent'),
  { type: 'holding-off', cause: 'asked', run, until: Date.parse('2026-11-21T02:31:00Z'), code: 'http-429' },
  { type: 'held-off', reason: 'lost', delayMs: 5 },
  { type: 'archived', name: 'a.csv' },
  { type: 'stopping', run, graceMs: 3_000 },
  { type: 'settled', run: someRun() },
  { type: 'settled', run: someRun({ state: 'failed', failure }) },
];

describe('the log', () => {
  it('has one line at debug for a run of today that found nothing new, and the usual ones for any other', async () => {
    const linesOf = async (accepted: number) => {
      const { stream, lines } = captureStream();
      const observe = createLogObserver(await openLog('debug', stream, 'host-1-test'), Date.now);
      const ofToday = someRun({ trigger: 'today', counts: { accepted } });
      observe({
        type: 'run-opened',
        run: someRun({ trigger: 'today', counts: { accepted: 0 } }),
        isResumed: false,
      });
      observe({ type: 'collected', run: ofToday });
      observe({ type: 'settled', run: ofToday });
      return lines().map((line) => (JSON.parse(line) as { msg: string }).msg);
    };
    expect(await linesOf(0)).toEqual(['run settled']);
    expect(await linesOf(3)).toEqual(['collected', 'run settled']);
  });

  it.each<[LogLevel, string[]]>([
    [
      'trace',
      [
        'info run opened',
        'debug collecting',
        'warn column not in the source',
        'info collected',
        'trace step claimed',
        'debug step ended',
        'warn step ended',
        'debug transferring',
        'warn step ended',
        'debug step ended',
        'warn step ended',
        'warn holding off',
        'warn SFTP server failed: held off',
        'info export file archived',
        'warn stopping',
        'info steps done',
        'info run settled',
        'error run settled',
      ],
    ],
    ['error', ['error run settled']],
  ])('at %s has the lines of that level and above, one JSON object per line', async (level, expected) => {
    const names = new Map([
      [10, 'trace'],
      [20, 'debug'],
      [30, 'info'],
      [40, 'warn'],
      [50, 'error'],
    ]);
    expect((await logAll(level)).map(({ level, msg }) => `${names.get(Number(level))} ${msg}`)).toEqual(
      expected,
    );
  });

  it.each([
    ['ends', someRun(), 0],
    ['ended in another process', someRun({ id: '20261121-another1' }), 60_000],
  ])(
    'counts the steps that are done, in one line a minute at most, until the run %s',
    async (_, settled, later) => {
      const { stream, lines } = captureStream();
      let now = Date.parse('2026-11-21T02:30:00Z');
      const observe = createLogObserver(await openLog('info', stream, 'host-1-test'), () => now);
      for (let step = 0; step < 200; step += 1) {
        observe(stepEnded(step, 1_000));
        now += 1_000;
      }
      now += later;
      observe({ type: 'settled', run: settled });
      const read = lines().map((line) => JSON.parse(line));
      expect(read.map(({ msg, steps, seconds }) => [msg, steps, seconds])).toEqual([
        ['steps done', 61, 60],
        ['steps done', 61, 60],
        ['steps done', 61, 60],
        ['steps done', 17, 16],
        ['run settled', undefined, undefined],
      ]);
    },
  );

  it('names run, day, step and outcome', async () => {
    const ended = (await logAll('trace')).find(({ msg, level }) => msg === 'step ended' && level === 40);
    expect(ended).toEqual({
      level: 40,
      worker: 'host-1-test',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      run: '20261120-k3f9xq7d',
      day: '2026-11-20',
      step: 'batch 3',
      attempt: 2,
      outcome: 'halved',
      code: 'code-2009',
      httpStatus: 200,
      statusCode: 2009,
      msg: 'step ended',
    });
  });

  it('never contains the service’s words, even if an event has them', async () => {
    expect(JSON.stringify(await logAll('trace'))).not.toContain('Lovelace');
  });
});

async function logAll(level: LogLevel): Promise<Record<string, unknown>[]> {
  const { stream, lines } = captureStream();
  const log = createLogObserver(await openLog(level, stream, 'host-1-test'), Date.now);
  for (const event of everything) log(event);
  return lines().map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** An event whose evidence holds more than is allowed. */
function refused(): ReviewEvent {
  const evidence = {
    code: 'code-2009',
    httpStatus: 200,
    statusCode: 2009,
    answer: 'the hotel of Ana Lovelace is unknown',
    sha256: 'f'.repeat(64),
  };
  return {
    type: 'step-ended',
    run: someRun({ state: 'delivering' }),
    step,
    attempt: 2,
    outcome: 'halved',
    evidence,
  };
}
