import { readdir } from 'node:fs/promises';
import { basename, dirname, resolve, sep } from 'node:path';
import { parseEnv } from 'node:util';
import { unknownWord } from '../../base/setting-placeholders.js';
import type { ServiceField } from '../../booking/booking.js';
import {
  type BusinessDay,
  businessDayAt,
  createBusinessDay,
  goBack,
  listDays,
} from '../../booking/business-day.js';
import { openNormaliser } from '../../booking/normalise.js';
import type { Config } from '../../config/load.js';
import { parseConfig } from '../../config/parse.js';
import { listPlaceholders } from '../../config/placeholders.js';
import { ConfigurationError } from '../../config/problems.js';
import type { SourceParts } from '../../sources/common/kind.js';
import { type PathTemplate, parsePathTemplate } from '../../sources/files/day-file.js';
import { openSource } from '../../sources/registry.js';
import { lookOnce } from '../examination/check.js';
import { type Examination, examineDay } from '../examination/examine-day.js';
import type { Finding } from '../examination/finding.js';
import { checkSource, warnOfSamePath } from '../examination/source-check.js';
import { renderSecrets, type Secrets, type SourceAnswers, setupOf, variables } from './answers.js';
import { renderConfiguration } from './configuration-text.js';
import { isThere } from './write-new-files.js';

/** A source as far as the questions have been answered. */
export interface AnsweredSource {
  readonly timezone: string;
  readonly source: SourceAnswers;
  readonly secrets: Secrets;
  /** The day to examine, YYYY-MM-DD; undefined for that of the newest file, or yesterday. */
  readonly day: string | undefined;
}

/** Tries a source while its configuration is still being written. Each trial takes a bounded time. */
export interface SourceTrials {
  /** Finds out the columns and how dates are written. */
  examine(answered: AnsweredSource, columns?: ReadonlyMap<ServiceField, string>): Promise<Examination>;
  /** Reads a few bookings as the configuration with these answers would. The findings are those of `doctor`. */
  read(answered: AnsweredSource, examination: Examination): Promise<readonly Finding[]>;
}

interface TrialParts {
  /** The configuration to be written, absolute. */
  readonly file: string;
  /** The variables that exist already. */
  readonly env: NodeJS.Dict<string>;
  readonly clock: () => number;
  readonly signal: AbortSignal;
  readonly tell: (text: string) => void;
  /** The process facilities that a source needs. */
  readonly openParts: (config: Config) => SourceParts;
}

const trialSeconds = 15;
/** Somebody is waiting for the reason why the source fails: further tries would only delay it. */
const singleTry = { tries: 1, waits: 0 };
const nothingYet: Examination = { kind: 'no-file' };

/** Tries a source with the very configuration that will be written for it, so that there is only one way to make one. */
export function createSourceTrials({ file, env, clock, signal, tell, openParts }: TrialParts): SourceTrials {
  const folder = dirname(file);

  function parse({ timezone, source, secrets }: AnsweredSource, examination: Examination): Config {
    const unasked = { baseUrl: undefined, delivery: 'body', sftp: undefined } as const;
    const answers = { timezone, source, secrets, ...unasked };
    const config = parseConfig({
      text: renderConfiguration({ answers, examination, schema: '' }),
      file,
      env: {
        ...parseEnv(renderSecrets(answers)),
        ...env,
        // Not part of the trial, so they must not fail it.
        [variables.apiKey]: unknownWord,
        [variables.accountId]: unknownWord,
      },
    });
    return { ...config, retry: { ...config.retry, ...singleTry } };
  }

  /** The day to examine; undefined if there is nothing to examine yet. */
  async function findDay({ source, timezone, day }: AnsweredSource): Promise<BusinessDay | undefined> {
    const setup = setupOf(source);
    const program = setup.findProgram?.(source);
    if (program !== undefined && !(await isThere(resolve(folder, program)))) return undefined;
    const yesterday = businessDayAt(new Date(clock()), timezone).previous();
    if (day !== undefined) return createBusinessDay(day, timezone);
    const path = setup.findDayFile?.(source);
    if (path === undefined) return yesterday;
    const locate = parsePathTemplate(path);
    return findNewestDay((tried) => resolve(folder, locate(tried)), yesterday.next());
  }

  return {
    async examine(answered, columns) {
      const { source } = answered;
      const day = await findDay(answered);
      if (day === undefined) return nothingYet;
      const config = readConfiguration(() => parse(answered, nothingYet));
      if (typeof config === 'string') {
        return { kind: 'failed', location: 'the source', day: day.iso, reason: config };
      }
      const unknown = listPlaceholders(config).filter((path) => /^(?:source|s3)\./.test(path));
      if (unknown.length > 0) return { kind: 'untried', unknown };
      const parts = openParts(config);
      const { locate } = await openSource(config.source, parts);
      const { findDayFile, findRemoteFile, findObjection, sample } = setupOf(source);
      const isLocal = findDayFile?.(source) !== undefined;
      const findLocation = (ofDay: BusinessDay) => {
        const located = locate(ofDay);
        return located.startsWith(folder + sep)
          ? located.slice(folder.length + 1).replaceAll(sep, '/')
          : located;
      };
      const location = findLocation(day);
      const remote = answered.day === undefined ? findRemoteFile?.(source) : undefined;
      const days = remote === undefined ? [day] : listDaysTried(day, findLocation);
      if (!isLocal && columns === undefined) tell(describeTrial(location, day));
      let examination: Examination | undefined;
      const findings = await lookOnce(
        {
          part: 'source',
          seconds: trialSeconds,
          async look(trial) {
            for (const tried of days) {
              examination = await examineDay(
                { isLocal, location: findLocation(tried), day: tried, columns, findObjection },
                sample(config.source, parts),
                trial,
              );
              if (examination.kind !== 'failed' || !examination.isMissing) return [];
            }
            if (remote !== undefined && days.length > 1)
              examination = describeNothing(remote, location, days);
            return [];
          },
        },
        signal,
      );
      const reason = findings.map(({ message }) => message).join('; ');
      return examination ?? { kind: 'failed', location, day: day.iso, reason: `${location}: ${reason}` };
    },

    async read(answered, examination) {
      if (examination.kind !== 'examined') return [];
      const config = parse(answered, examination);
      const { source, maxRejectedShare, emptyDay } = config;
      const day = createBusinessDay(examination.day, answered.timezone);
      const look = async (trial: AbortSignal) => {
        const parts = {
          source: await openSource(source, openParts(config)),
          normaliserFor: openNormaliser(source),
          day,
          maxRejectedShare,
          emptyDay,
        };
        return [...(await checkSource(parts, trial)), ...warnOfSamePath(source)];
      };
      return lookOnce({ part: 'source', seconds: trialSeconds, look }, signal);
    },
  };
}

/** The configuration, or what is wrong with it. */
function readConfiguration(parse: () => Config): Config | string {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.problems.map(({ path, message }) => `${path}: ${message}`).join('; ');
  }
}

/** How many days a file is looked for on a server: each takes a connection. */
const remoteDays = 7;

/** The day and those before it, newest first; only the day where the path doesn't depend on it. */
function listDaysTried(day: BusinessDay, locate: (day: BusinessDay) => string): BusinessDay[] {
  const days = [day];
  if (locate(day) === locate(day.previous())) return days;
  for (let before = day.previous(); days.length < remoteDays; before = before.previous()) days.push(before);
  return days;
}

function describeNothing(path: string, location: string, days: readonly BusinessDay[]): Examination {
  const [newest, oldest] = [days[0]?.iso ?? '', days.at(-1)?.iso ?? ''];
  const reason = `no file matches ${path} for ${oldest} to ${newest}: check the path, unless the first export is still to come`;
  return { kind: 'failed', location, day: newest, reason, isMissing: true };
}

function describeTrial(location: string, { iso }: BusinessDay): string {
  return location.includes(iso) ? `Trying ${location} …` : `Trying ${location} for ${iso} …`;
}

/** How far to search around today: an example may be old, and the day of a test may be in the future. */
const daysAhead = 366;
/** Every day of the calendar has passed by then, also a 29th of February. */
const daysBack = 8 * 366;

/**
 * The day of the newest file that a path template names; undefined if there is none. A name that stands for several days,
 * because it has no year, is that of the latest which has passed. A template without the day names a single file, taken for
 * that of yesterday.
 */
async function findNewestDay(locate: PathTemplate, today: BusinessDay): Promise<BusinessDay | undefined> {
  const exists = createFileSearch();
  const yesterday = today.previous();
  if (locate(today) === locate(yesterday)) return (await exists(locate(yesterday))) ? yesterday : undefined;
  const first = goBack(today, daysBack);
  const days = listDays(first.iso, goBack(today, -daysAhead).iso).map((day) =>
    createBusinessDay(day, today.zone),
  );
  const passed = new Map(days.filter(({ iso }) => iso <= today.iso).map((day) => [locate(day), day]));
  const isMeant = (day: BusinessDay) => (passed.get(locate(day)) ?? day).iso === day.iso;
  for (const day of days.reverse()) if (isMeant(day) && (await exists(locate(day)))) return day;
  return undefined;
}

/** Reads each folder only once, however many days are searched for in it. */
function createFileSearch(): (path: string) => Promise<boolean> {
  const folders = new Map<string, Promise<ReadonlySet<string>>>();
  return async (path) => {
    const folder = dirname(path);
    const names =
      folders.get(folder) ??
      readdir(folder)
        .then((found) => new Set(found))
        .catch(() => new Set<string>());
    folders.set(folder, names);
    return (await names).has(basename(path));
  };
}
