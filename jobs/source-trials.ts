import { dirname, resolve, sep } from 'node:path';
import { parseEnv } from 'node:util';
import { type BusinessDay, businessDayAt, createBusinessDay } from '../src/booking/business-day.js';
import type { Config } from '../src/config/load.js';
import { parseConfig } from '../src/config/parse.js';
import { listPlaceholders, unknownWord } from '../src/config/placeholders.js';
import { ConfigurationError } from '../src/config/problems.js';
import { lookOnce } from '../src/examination/check.js';
import { type Examination, examineDay } from '../src/examination/examine-day.js';
import type { Finding } from '../src/examination/finding.js';
import { checkSource } from '../src/examination/source-check.js';
import { variables } from '../src/setup/answers/secrets.js';
import { isLocalFile } from '../src/setup/answers/source-answers.js';
import { findExport } from '../src/setup/examination/find-export.js';
import type { AnsweredSource, SourceTrials } from '../src/setup/examination/source-trials.js';
import { renderConfiguration } from '../src/setup/render/configuration.js';
import { renderDotEnv } from '../src/setup/render/dot-env.js';
import { isThere } from '../src/setup/write-new-files.js';
import { parsePathTemplate } from '../src/sources/files/path-template.js';
import { openSampler } from './samples.js';
import { composeSource, type SourceVoice } from './sources.js';

interface TrialParts {
  /** The configuration that is going to be written, absolute. */
  readonly file: string;
  /** The variables that are there already. */
  readonly env: NodeJS.Dict<string>;
  readonly clock: () => number;
  readonly signal: AbortSignal;
  readonly tell: (text: string) => void;
  readonly voice: SourceVoice;
  /** Called when a trial that does not end is given up. */
  readonly onAbandoned: () => void;
}

/** How long each look at a source may take. */
const seconds = 15;
/** Somebody waits for the reason why something can't be had, which further tries would only put off. */
const onlyTry = { tries: 1, waits: 0 };
const untold: Examination = { kind: 'no-file' };

/**
 * Tries a source by the configuration that is going to be written for it: there is no second way in which a source is
 * made of answers.
 */
export function openSourceTrials({
  file,
  env,
  clock,
  signal,
  tell,
  voice,
  onAbandoned,
}: TrialParts): SourceTrials {
  const folder = dirname(file);
  const options = { signal, onAbandoned };

  function parse({ timezone, source, secrets }: AnsweredSource, examination: Examination): Config {
    const unasked = { baseUrl: undefined, delivery: 'body', sftp: undefined } as const;
    const answers = { timezone, source, secrets, ...unasked };
    const config = parseConfig({
      text: renderConfiguration({ answers, examination, schema: '' }),
      file,
      env: {
        ...parseEnv(renderDotEnv(answers)),
        ...env,
        // What is wrong with them is not what is tried.
        [variables.apiKey]: unknownWord,
        [variables.accountId]: unknownWord,
      },
    });
    return { ...config, retry: { ...config.retry, ...onlyTry } };
  }

  /** The day to look at; undefined where there is nothing to look at yet. */
  async function findDay({ source, timezone, day }: AnsweredSource): Promise<BusinessDay | undefined> {
    const yesterday = businessDayAt(new Date(clock()), timezone).previous();
    const wanted = day === undefined ? undefined : createBusinessDay(day, timezone);
    if (source.kind === 'module' && !(await isThere(resolve(folder, source.path)))) return undefined;
    if (wanted !== undefined || !isLocalFile(source)) return wanted ?? yesterday;
    const locate = parsePathTemplate(source.path);
    return (await findExport((tried) => resolve(folder, locate(tried)), yesterday.next()))?.day;
  }

  return {
    async examine(answered, columns) {
      const { source } = answered;
      const day = await findDay(answered);
      if (day === undefined) return untold;
      const parsed = readConfiguration(() => parse(answered, untold));
      if (typeof parsed === 'string') {
        return { kind: 'failed', place: 'the source', day: day.iso, reason: parsed };
      }
      const unknown = listPlaceholders(parsed).filter((path) => /^(?:source|s3)\./.test(path));
      if (unknown.length > 0) return { kind: 'untried', unknown };
      const located = composeSource(parsed, voice).source.locate(day);
      const isLocal = isLocalFile(source);
      const place = located.startsWith(folder + sep)
        ? located.slice(folder.length + 1).replaceAll(sep, '/')
        : located;
      if (!isLocal && columns === undefined) tell(describeTrial(place, day));
      const examined = { kind: source.kind, isLocal, place, day, columns };
      let examination: Examination | undefined;
      const findings = await lookOnce(
        {
          part: 'source',
          seconds,
          async look(trial) {
            examination = await examineDay(examined, openSampler(parsed, voice), trial);
            return [];
          },
        },
        options,
      );
      const reason = findings.map(({ message }) => message).join('; ');
      return examination ?? { kind: 'failed', place, day: day.iso, reason: `${place}: ${reason}` };
    },

    async read(answered, examination): Promise<readonly Finding[]> {
      if (examination.kind !== 'examined') return [];
      const config = parse(answered, examination);
      const { maxRejectedShare, emptyDay } = config;
      const day = createBusinessDay(examination.day, answered.timezone);
      const look = (trial: AbortSignal) =>
        checkSource({ ...composeSource(config, voice), day, maxRejectedShare, emptyDay }, trial);
      return lookOnce({ part: 'source', seconds, look }, options);
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

function describeTrial(place: string, { iso }: BusinessDay): string {
  return place.includes(iso) ? `Trying ${place} …` : `Trying ${place} for ${iso} …`;
}
