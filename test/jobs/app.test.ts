import { existsSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { recordAction, recordLook, withApp } from '../../jobs/app.js';
import { createReports } from '../../jobs/reports.js';
import { createTerminal, type Terminal } from '../../jobs/terminal.js';
import { type Config, loadConfig } from '../../src/config/load.js';
import { LedgerFullError } from '../../src/ledger/errors.js';
import { captureIo } from '../support/command-io.js';
import { createDayFolder } from '../support/day-folder.js';
import { fakeLedger } from '../support/fake-ledger.js';

let config: Config;
let terminal: Terminal;
let stderr: { text(): string };

beforeEach(async () => {
  const folder = await createDayFolder({ baseUrl: 'http://127.0.0.1:1' });
  config = await loadConfig({ file: folder.configurationFile, env: {} });
  const captured = captureIo();
  stderr = captured.stderr;
  const { io } = captured;
  terminal = createTerminal({ reports: createReports(io.stdout, false), config: 'c.yaml', io });
});

describe('the app of a command', () => {
  it('opens a part when it is first asked for, once, and closes all of them, whatever failed', async () => {
    const path = 'path' in config.ledger ? config.ledger.path : '';
    const ended: string[] = [];
    let ping = () => Promise.resolve();
    const work = withApp(config, terminal, async (app) => {
      expect(await app.findLedger()).toBeUndefined();
      expect(existsSync(path)).toBe(false);
      const ledger = await app.ledger();
      expect(await app.ledger()).toBe(ledger);
      expect(await app.findLedger()).toBe(ledger);
      ping = () => ledger.ping();
      app.beforeClose(() => ended.push('first'));
      app.beforeClose(() => Promise.reject(new Error('it would not end')));
      app.beforeClose(async () => {
        await ping();
        ended.push('third');
      });
      app.sftp();
    });
    await expect(work).rejects.toThrow('delivery by file needs an SFTP server');
    expect(ended).toEqual(['third', 'first']);
    await expect(ping()).rejects.toThrow();
    const unended = withApp(config, terminal, async (app) => {
      app.beforeClose(() => Promise.reject(new Error('it would not end')));
    });
    await expect(unended).rejects.toThrow('it would not end');
  });

  it('refuses to show names where it cannot record that, and only warns where it shows none', async () => {
    const full = fakeLedger({ audit: { record: () => Promise.reject(new LedgerFullError('l.db')) } });
    const action = { action: 'show', subject: 'BR-1' } as const;
    await expect(recordAction(full, action, terminal)).rejects.toThrow(
      "refused, because the audit trail can't record it: the disk of the ledger l.db is full",
    );
    await recordLook(full, action, terminal);
    expect(stderr.text()).toMatch(/^warning: the audit trail can't record this: the disk of the ledger l.db/);
  });
});
