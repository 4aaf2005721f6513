import type { GlobalOptions } from '../src/cli/commands/options.js';
import type { Handlers } from '../src/cli/commands/program.js';
import { readDaysIn } from './days.js';
import { type Running, withConfig } from './execute.js';

/** Each handler starts one job, and loads it only then. */
export function createHandlers(command: Running): Handlers {
  return {
    syncMappings: (options, globals) =>
      withConfig(globals, command, async (config, terminal) =>
        (await import('./sync-mappings.js')).syncOnce(config, options, terminal),
      ),
    showMapping: (providerName, providerHotelId, globals) =>
      withConfig(globals, command, async (config, terminal) => {
        const { showMapping } = await import('./show-mappings.js');
        return showMapping(config, { providerName, providerHotelId }, terminal);
      }),
    mappingStats: (globals) =>
      withConfig(globals, command, async (config, terminal) =>
        (await import('./show-mappings.js')).showStats(config, terminal),
      ),
    loadHotels: (file, globals) =>
      withConfig(globals, command, async (config, terminal) =>
        (await import('./load-hotels.js')).loadHotelsOnce(config, file, terminal),
      ),
    importVerdicts: (files, globals) =>
      withConfig(globals, command, async (config, terminal) =>
        (await import('./import-verdicts.js')).importVerdicts(config, files, terminal),
      ),
    listVerdictMails: (options, globals) =>
      withConfig(globals, command, async (config, terminal) =>
        (await import('./list-verdict-mails.js')).listVerdictMails(config, options, terminal),
      ),
    requestExport: (options, globals) =>
      withConfig(globals, command, async (config, terminal) =>
        (await import('./request-export.js')).requestOneExport(config, options, terminal),
      ),
    fetchExport: (options, globals) =>
      withConfig(globals, command, async (config, terminal) =>
        (await import('./fetch-export.js')).fetchOneExport(config, options, terminal),
      ),
    compareExport: (file, options, globals) =>
      withConfig(globals, command, async (config, terminal) =>
        (await import('./compare-export.js')).compareOneExport(config, file, options, terminal),
      ),
    testChannels: (channel, globals) =>
      withConfig(globals, command, async (config, terminal) =>
        (await import('./test-channels.js')).testChannels(config, channel, terminal),
      ),
    hook: (options, globals) =>
      withConfig(globals, command, async (config, terminal) => {
        const read = readDaysIn(config.timezone, options, ['day']);
        return (await import('./sign-hook.js')).signHook(config, read, terminal);
      }),
  };
}

/** Long-running commands write log lines, at the usual level unless another one is set. */
function _toLog(globals: GlobalOptions): GlobalOptions {
  return { ...globals, logLevel: globals.logLevel ?? 'info' };
}
