import { giveWay } from '../src/async/give-way.js';
import type { Config } from '../src/config/load.js';
import { createDesk, type DeskParts } from '../src/desk/desk.js';
import { prepareScores } from '../src/desk/providers/read-scores.js';
import { readAssets } from '../src/desk/routing/assets.js';
import { createHookCallerFinder } from '../src/desk/routing/hook-callers.js';
import { createScoreMemory } from '../src/scorecard/score-memory.js';
import type { CheckCaller } from '../src/server/caller.js';
import { kindOf } from '../src/sources/registry.js';
import { describeError } from '../src/text/safe-error.js';
import { openAccess } from './access.js';
import { clock } from './clock.js';
import { openArchive } from './deliveries.js';
import { openRetryPolicy } from './retry-policy.js';
import { readSilence } from './silence.js';
import type { Terminal } from './terminal.js';
import { packEvidence } from './write-evidence.js';

/** They ship with the package. */
const assetsFolder = new URL('../src/desk/assets/', import.meta.url);

interface ComposedParts extends Pick<DeskParts, 'ledger' | 'operations' | 'nights' | 'health'> {
  /** Checks callers of the hook, who may look too. */
  readonly checkCaller: CheckCaller | undefined;
}

/** The pages of `serve`. */
export async function composeDesk(
  config: Config,
  { ledger, operations, nights, health, checkCaller }: ComposedParts,
  { log, signal, command }: Pick<Terminal, 'log' | 'signal' | 'command'>,
) {
  const { timezone, hashKey, source, deadline, volume } = config;
  const access = openAccess(config);
  // Reports a damaged users' file now rather than to the first visitor.
  await access.hasUsers();
  const scoring = {
    timezone,
    scores: createScoreMemory({ ledger, giveWay }),
    readSilence: (now: number) => readSilence(config, ledger, now),
  };
  // So that the first visitor waits less.
  prepareScores(scoring, { now: clock(), signal }).catch((error: unknown) => {
    if (!signal.aborted) log.warn({ fault: describeError(error) }, 'providers not compared yet');
  });
  return createDesk(
    {
      ...scoring,
      ...{ ledger, operations, hashKey },
      keptColumns: Object.keys(source.keep),
      ...{ deadline, volume, nights, health },
      limits: {
        retry: openRetryPolicy(config),
        resultTimeoutMs: config.file.resultTimeoutMinutes * 60_000,
      },
      ...{ archive: openArchive(config), placeUnit: kindOf(config.source).placeUnit, command, clock },
      packEvidence: (reference, signal) => packEvidence(config, ledger, reference, { signal }),
    },
    {
      access,
      ...(checkCaller && { findHookCaller: createHookCallerFinder(checkCaller) }),
      assets: await readAssets(assetsFolder),
      record: (action) => ledger.audit.record(action),
      clock,
      timezone,
      signal,
      log,
    },
  );
}
