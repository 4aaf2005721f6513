import { openSourceParts, type SourceSettings } from '../../jobs/sources.js';
import type { SourceParts } from '../../src/sources/common/kind.js';

const noMessages = { say: () => {}, showsModuleErrors: false };

/** What sources need, without messages to an operator. */
export function openTestParts(settings: Omit<SourceSettings, 'source'>): SourceParts {
  return openSourceParts(settings, noMessages);
}
