import { existsSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { withApp } from '../../jobs/app.js';
import { createTerminal, type Terminal } from '../../jobs/terminal.js';
import { type Config, loadConfig } from '../../src/config/load.js';
import { createReports } from '../../src/text/reports.js';
import { captureIo } from '../support/command-io.js';
import { createDayFolder } from '../support/day-folder.js';

let config: Config;
let terminal: Terminal;

beforeEach(async () => {
  const folder = await createDayFolder({ baseUrl: 'http://127.0.0.1:1' });
  config = await loadConfig({ file: folder.configurationFile, env: {} });
  const { io } = captureIo();
  terminal = createTerminal({
    reports: createReports(io.stdout, false),
    config: folder.configurationFile,
    io,
  });
});

describe('the app of a command', () => {
  it('opens a part when it is first asked for, and once', async () => {
    const path = 'path' in config.ledger ? config.ledger.path : '';
    await withApp(config, terminal, async (app) => {
      expect(await app.findLedger()).toBeUndefined();
      expect(existsSync(path)).toBe(false);
      expect(await app.ledger()).toBe(await app.ledger());
      expect(existsSync(path)).toBe(true);
    });
  });

  it('reads what it has open for writing', async () => {
    await withApp(config, terminal, async (app) => {
      const ledger = await app.ledger();
      expect(await app.findLedger()).toBe(ledger);
    });
  });

  it('ends what is at work before it closes the parts, the latest first', async () => {
    const ended: string[] = [];
    await withApp(config, terminal, async (app) => {
      app.beforeClose(() => ended.push('first'));
      app.beforeClose(async () => {
        await (await app.ledger()).ping();
        ended.push('second');
      });
    });
    expect(ended).toEqual(['second', 'first']);
  });

  it('closes everything, whatever failed', async () => {
    let isClosed = false;
    let ping = () => Promise.resolve();
    const work = withApp(config, terminal, async (app) => {
      const ledger = await app.ledger();
      ping = () => ledger.ping();
      app.beforeClose(() => {
        isClosed = true;
      });
      app.beforeClose(() => Promise.reject(new Error('it would not end')));
      throw new Error('the work failed');
    });
    await expect(work).rejects.toThrow('the work failed');
    expect(isClosed).toBe(true);
    await expect(ping()).rejects.toThrow();
  });

  it('fails with what would not close, if the work succeeded', async () => {
    const work = withApp(config, terminal, async (app) => {
      app.beforeClose(() => Promise.reject(new Error('it would not end')));
    });
    await expect(work).rejects.toThrow('it would not end');
  });

  it('closes what was opened before a part that could not be opened', async () => {
    let ping = () => Promise.resolve();
    const work = withApp(config, terminal, async (app) => {
      const ledger = await app.ledger();
      ping = () => ledger.ping();
      app.sftp();
    });
    await expect(work).rejects.toThrow('delivery by file needs an SFTP server');
    await expect(ping()).rejects.toThrow();
  });
});
