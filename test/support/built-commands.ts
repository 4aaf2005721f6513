import { withApp } from '../../jobs/app.js';
import { type ReviewRequest, runReview } from '../../jobs/main-job.js';
import type { CommandIo } from '../../jobs/process.js';
import { createReports, createTerminal } from '../../jobs/terminal.js';
import { createBusinessDay } from '../../src/booking/business-day.js';
import { loadConfig } from '../../src/config/load.js';
import { captureIo } from './command-io.js';

const builtMain = new URL('../../dist/jobs/main.js', import.meta.url).href;

/** The built commands with one configuration, called in this process and by its clock. */
export interface BuiltCommands {
  /** @throws Error with what it wrote, if it fails */
  run(words: readonly string[], io?: Partial<CommandIo>): Promise<void>;
  /** Reads the JSON that it prints. @throws the same */
  ask<Answer>(words: readonly string[]): Promise<Answer>;
  /** Runs one that may fail. */
  call(words: readonly string[], io?: Partial<CommandIo>): Promise<Called>;
  /** A run with the trigger of `serve`. What becomes of it is in the ledger. */
  review(day: string, request: ReviewRequest & ReviewChanges): Promise<void>;
}

export interface Called {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ReviewChanges {
  /** Replaces the configured one. */
  readonly resultTimeoutMinutes?: number;
}

export function createBuiltCommands(configuration: string): BuiltCommands {
  async function call(words: readonly string[], changes: Partial<CommandIo> = {}): Promise<Called> {
    const { main }: typeof import('../../jobs/main.js') = await import(builtMain);
    const { io, stdout, stderr } = captureIo(changes);
    const own = words.includes('--config') ? [] : ['--config', configuration];
    const exitCode = await main([...words, ...own], io);
    return { exitCode, stdout: stdout.text(), stderr: stderr.text() };
  }

  async function succeed(words: readonly string[], changes?: Partial<CommandIo>): Promise<string> {
    const { exitCode, stdout, stderr } = await call(words, changes);
    if (exitCode !== 0) throw new Error(`${words.join(' ')}: ${exitCode}\n${stdout}${stderr}`);
    return stdout;
  }

  return {
    call,
    run: async (words, io) => void (await succeed(words, io)),
    ask: async (words) => JSON.parse(await succeed([...words, '--json'])),
    async review(day, { resultTimeoutMinutes, ...request }) {
      const loaded = await loadConfig({ file: configuration, env: {} });
      const config = {
        ...loaded,
        file: { ...loaded.file, ...(resultTimeoutMinutes !== undefined && { resultTimeoutMinutes }) },
      };
      const { io } = captureIo();
      const terminal = createTerminal({
        reports: createReports(io.stdout, false),
        config: configuration,
        io,
      });
      await withApp(config, terminal, (app) =>
        runReview(app, createBusinessDay(day, config.timezone), request),
      );
      terminal.endProgress();
    },
  };
}
