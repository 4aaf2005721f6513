import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { dirname, isAbsolute } from 'node:path';
import { measureRoom } from '../src/base/disk-room.js';
import { escapePattern } from '../src/base/foreign-text.js';
import { describeError } from '../src/base/safe-error.js';
import type { Part } from '../src/checks/check.js';
import { listWritten } from '../src/checks/doctor/folders.js';
import type { Config } from '../src/config/load.js';
import { isLedgerFault, LedgerAwayError } from '../src/ledger/errors.js';
import type { Ledger } from '../src/ledger/ledger.js';
import type { ChannelSettings } from '../src/notify/channels/channel-settings.js';
import { type CheckParts, findStaleBound } from '../src/notify/check-notices.js';
import { changeTexts, composeMessage } from '../src/notify/compose-messages.js';
import { findDueDigest, findJudgedDays, judgeDeadlines } from '../src/notify/deadlines.js';
import type { HotelReviewEvent, NotifyAll } from '../src/notify/events.js';
import { type NotifierParts, startNotifier } from '../src/notify/notifier.js';
import { codeOfFailure } from '../src/notify/refused-credentials.js';
import { isSentEnough, isWanted } from '../src/notify/routing.js';
import { explainFailure } from '../src/notify/send-messages.js';
import type { NewNotice, Notice } from '../src/rules/notice.js';
import { findRefusingPeer } from '../src/rules/peers.js';
import { createCronTimes } from '../src/schedule/cron-times.js';
import type { App } from './app.js';
import { clock, random } from './clock.js';
import type { Terminal } from './terminal.js';

/** Tells people once what is wrong with the ledger. Never rejects. */
export type TellOfLedger = (problem: Error, day?: string) => Promise<void>;

/** How long the channels may take, all at once: what they have not confirmed by then may have arrived. */
const sendMs = 30_000;

/**
 * Tells people directly that a day is not reviewed, not through the ledger, which can't be used: each channel once, and those that did not
 * accept it again the next time, but what may have arrived no more than three times; once more only after a review could use the ledger.
 */
export function createLedgerTelling(
  { notify, proxy, server, ...config }: Config,
  { log, signal, warn }: Terminal,
) {
  const shorten = createLocalPathShortener({ notify, proxy, server, ...config });
  const told = new Set<ChannelSettings>();
  /** How often each channel may have got it, and did not confirm it. */
  const unconfirmed = new Map<ChannelSettings, number>();
  /** What follows a review may fail, too. */
  const reviewed = new Set<string>();
  let id = randomUUID();
  let isLogged = false;
  let telling = Promise.resolve();

  async function send(
    problem: Error,
    day: string | undefined,
    settings: ChannelSettings,
    limit: AbortSignal,
  ): Promise<void> {
    // Loaded only once there is something to tell.
    const { openChannel } = await import('../src/notify/channels/open-channel.js');
    const channel = await openChannel(settings, { proxy, clock, warn });
    try {
      await channel.send(
        {
          ...{ id, ...noticeOf(problem), stage: 'raised', counts: {} },
          incident: `ledger ${id}`,
          ...(day !== undefined && { day }),
          title: `${day === undefined ? 'Nothing is reviewed' : `The review of ${day} failed`}: the ledger can't be used`,
          text: shorten(describeError(problem)),
          ...(server.publicUrl !== undefined && { url: server.publicUrl }),
          raisedAt: clock(),
        },
        limit,
      );
    } finally {
      await channel.close();
    }
  }

  async function tellAll(problem: Error, day: string | undefined): Promise<void> {
    if (!isLogged) log.error({ problem: describeError(problem) }, 'nothing is reviewed');
    isLogged = true;
    const notice = { ...noticeOf(problem), facts: {} };
    const left = notify.filter((channel) => isWanted(notice, channel) && !told.has(channel));
    const limit = AbortSignal.any([signal, AbortSignal.timeout(sendMs)]);
    const tellOne = async (settings: ChannelSettings) => {
      try {
        await send(problem, day, settings, limit);
        told.add(settings);
      } catch (error) {
        const sends =
          (unconfirmed.get(settings) ?? 0) + Number(explainFailure(error, limit.aborted).mayHaveArrived);
        unconfirmed.set(settings, sends);
        if (isSentEnough({ unconfirmed: sends })) told.add(settings);
        if (!signal.aborted) warn(`${settings.name} could not be told: ${describeError(error)}`);
      }
    };
    await Promise.all(left.map(tellOne));
  }

  const tell: TellOfLedger = (problem, day) => {
    const failed = day !== undefined && reviewed.has(day) ? undefined : day;
    telling = telling.then(() => tellAll(problem, failed));
    return telling;
  };

  const tellOf = (error: unknown, day?: string) => (isLedgerFault(error) ? tell(error, day) : undefined);

  function worked(): void {
    if (!isLogged) return;
    isLogged = false;
    told.clear();
    unconfirmed.clear();
    id = randomUUID();
  }

  return {
    tell,
    /** Whatever ends a review because of the ledger. */
    notify(event: HotelReviewEvent): Promise<void> | undefined {
      switch (event.type) {
        case 'due-day-failed':
          return tellOf(event.error, event.dueDay.day.iso);
        case 'review-broke-off':
          return tellOf(event.error, event.day);
        case 'check-failed':
          return tellOf(event.error);
        case 'settled':
          if (event.run.state === 'succeeded') reviewed.add(event.run.day);
          return undefined;
        case 'run-opened':
        case 'due-day-ended':
          worked();
          return undefined;
        default:
          return undefined;
      }
    },
    /** Waits until people were told. */
    close: () => telling,
  };
}

function noticeOf(problem: Error) {
  const isRefusal = problem instanceof LedgerAwayError && problem.fault === 'refused';
  return { event: isRefusal ? 'credentials-refused' : 'run-failed', severity: 'critical' } as const;
}

/**
 * Sends people the notices of the ledger for as long as the process works, through the configured channels. What these need is loaded only
 * if there are any.
 */
export async function startNotifications(app: App, ledger: Ledger) {
  const { config, warn } = app;
  const { notify, proxy } = config;
  const open = async (settings: ChannelSettings) =>
    (await import('../src/notify/channels/open-channel.js')).openChannel(settings, { proxy, clock, warn });
  return startNotifier({ ...composeNotifier(app, ledger), channels: await Promise.all(notify.map(open)) });
}

/** What tells people, but for the channels. */
export function composeNotifier(app: App, ledger: Ledger): Omit<NotifierParts, 'channels'> {
  const { config, notify, warn, commandElsewhere: command, signal } = app;
  const shorten = createLocalPathShortener(config);
  const withShortPaths = (notice: Notice) =>
    changeTexts(notice, (text, name) =>
      // Which disk is full can't be told without its path.
      notice.event === 'resource-low' && name === 'path' ? text : shorten(text),
    );
  const composing = {
    ...{ ledger, command, clock },
    timezone: config.timezone,
    publicUrl: config.server.publicUrl,
    async reportDay(day: string) {
      const { renderSavedReport } = await import('../src/desk/day-report.js');
      const { headline, page } = await renderSavedReport({ config, command }, ledger, day, clock());
      return { headline: shorten(headline), page: Buffer.from(shorten(page)) };
    },
  };
  return {
    ...{ ledger, notify, warn, signal, clock, random },
    settings: config.notify,
    timezone: config.timezone,
    compose(each, name) {
      const channel = config.notify.find((one) => one.name === name);
      return composeMessage(each.map(withShortPaths), composing, { takesFiles: channel?.kind === 'email' });
    },
    listChecks: () => listChecks(config, ledger),
  };
}

/** What fails outside a run leaves no trace in the ledger, so its notices are raised here, on the event. */
export function tellFailures(ledger: Ledger, notify: NotifyAll): NotifyAll {
  return (event) => {
    const found = noticesOfEvent(event);
    if (found.length === 0) return;
    void ledger.notices.raise(found).catch((error: unknown) => notify({ type: 'check-failed', error }));
  };
}

function noticesOfEvent(event: HotelReviewEvent): NewNotice[] {
  switch (event.type) {
    case 'sync-failed': {
      const facts = { reason: describeError(event.error) };
      return [
        { event: 'sync-failing', subject: '', facts, raisedAt: clock() },
        ...noticesOfRefusal(event.error),
      ];
    }
    case 'queue-given-up':
    case 'due-day-failed':
    case 'review-broke-off':
    case 'look-failed':
    case 'mailbox-away':
      return noticesOfRefusal(event.error);
    default:
      return [];
  }
}

/** Tells of refused credentials, if that is why something outside a run failed. */
export function noticesOfRefusal(error: unknown): NewNotice[] {
  const code = codeOfFailure(error);
  const peer = code === undefined ? undefined : findRefusingPeer(code);
  if (code === undefined || peer === undefined) return [];
  const facts = { code, message: describeError(error) };
  return [{ event: 'credentials-refused', subject: peer, facts, raisedAt: clock() }];
}

/** What the checks for time-based notices need: the settings that decide, and where to look. */
function listChecks(config: Config, ledger: Ledger): CheckParts {
  const { timezone, deadline, notify } = config;
  const { cron } = config.mappings;
  const { notices } = ledger;
  const digestTimes = notify.filter(({ on }) => on.includes('morning-digest')).map(({ at }) => at);
  return {
    ledger,
    timezone,
    clock,
    copy: cron === undefined ? undefined : findStaleBound(createCronTimes(cron, timezone), clock()),
    exportPatienceMs: config.file.resultTimeoutMinutes * 60_000,
    measureFree: () => measureFree(config),
    async findLateDays(now: number): Promise<readonly string[]> {
      if (deadline === undefined) return [];
      const countedFrom = await notices.noteFirst('deadline', now);
      const reviewedDays = await ledger.runs.listReviewedDays(findJudgedDays({ timezone, now }));
      const { late } = judgeDeadlines({ deadline, timezone, now, countedFrom, reviewedDays });
      return late.map(({ day }) => day);
    },
    async findDigest(now: number): Promise<NewNotice | undefined> {
      const [at] = digestTimes.sort();
      if (at === undefined) return undefined;
      const countedFrom = await notices.noteFirst('morning-digest', now);
      const due = findDueDigest(at, { now, countedFrom, timezone });
      return due && { event: 'morning-digest', subject: due.date, day: due.day, facts: {}, raisedAt: now };
    },
  };
}

/** What a run writes to. */
const ofRun: ReadonlySet<Part> = new Set<Part>(['ledger', 'archive', 'spool']);

/** The disks that a run writes to; one that does not exist yet is left out. */
async function measureFree(config: Config) {
  // Processes on several machines may share any other ledger.
  const where = 'path' in config.ledger ? '' : ` on ${hostname()}`;
  const measured = await Promise.all(
    listWritten(config).map(async ({ part, path }) => {
      const found = ofRun.has(part) ? await measureRoom(path).catch(() => undefined) : undefined;
      return found ? [{ place: `the ${part}${where}`, path, ...found }] : [];
    }),
  );
  return measured.flat();
}

/** Shortens the configured paths of this machine in texts that leave it. */
export function createLocalPathShortener(config: Config): (text: string) => string {
  const { folder, ledger, archive, file, source } = config;
  // Paths that texts may name besides those below the configuration's folder.
  const paths = [
    'path' in ledger ? ledger.path : '',
    'path' in archive ? archive.path : '',
    file.spool,
    'path' in source ? source.path : '',
  ];
  return createPathShortener(folder, paths);
}

/**
 * Shortens the paths of this machine in a text for the network: below the folder of the configuration they become relative to it,
 * and elsewhere only what follows the configured folder is shown.
 *
 * @param folder of the configuration file, absolute
 * @param paths others of the configuration; they may have placeholders such as `{day}`
 */
export function createPathShortener(folder: string, paths: readonly string[]): (text: string) => string {
  const others = paths
    .filter((path) => isAbsolute(path))
    .map((path) => dirname(path.replace(/\{.*$/s, 'x')))
    .filter((path) => path !== folder && !path.startsWith(`${folder}/`));
  const shortenings = [
    { path: folder, below: '', itself: '.' },
    ...[...new Set(others)].map((path) => ({ path, below: '…/', itself: '…' })),
  ]
    .filter(({ path }) => path !== '/')
    // The longest first: one folder may lie in another.
    .sort((one, other) => other.path.length - one.path.length)
    .map(({ path, ...shown }) => ({ ...shown, pattern: matchFolder(path) }));
  return (text) =>
    shortenings.reduce(
      (shortened, { pattern, below, itself }) =>
        shortened.replace(pattern, (match) => (match.endsWith('/') ? below : itself)),
      text,
    );
}

/** Matches a folder at the start of a path, with the slash that follows. */
function matchFolder(path: string): RegExp {
  return new RegExp(`(?<![\\w.~/-])${escapePattern(path)}(?:/|(?![\\w.-]))`, 'g');
}
