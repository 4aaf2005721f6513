import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openSshAndCurl, pythonClients } from '../sandbox/other-clients.js';
import { archiveOf } from '../support/archived-run.js';
import { day } from '../support/day-folder.js';
import { readEmails } from '../support/email.js';
import { callSandbox, createFolder, makeDayIn, reviewPath, runIn } from '../support/sandbox-command.js';

describe.each([openSshAndCurl, pythonClients])('A day by file', ({ name, needs, review }) => {
  it.skipIf(needs !== undefined)(
    `sent with ${name} gets the same result, byte for byte, as with hotel-review${needs ? ` (needs ${needs})` : ''}`,
    async () => {
      const ours = await createFolder();
      const usual = await callSandbox(ours, '--result-delay', '0');
      await makeDayIn(ours, '--wrong-share', '0.1');
      const how = ['--delivery', 'file', '--config', 'sandbox.yaml', '--json'];
      const archive = archiveOf(await runIn(ours, 'run', '--day', day, ...how));
      const sent = archive.read('20112026.csv');

      const theirs = await createFolder();
      const client = join(theirs, 'client');
      await mkdir(client);
      const sandbox = await callSandbox(join(theirs, 'sandbox'), '--result-delay', '1');
      const { addresses } = sandbox;
      const result = await review(addresses, sent, client);

      expect(result.equals(archive.read('20112026_Result.csv'))).toBe(true);
      const arrived = await readFile(join(addresses.sftp.root, reviewPath));
      expect(arrived.equals(sent)).toBe(true);
      // The event follows the e-mail.
      await Promise.all([usual, sandbox].map((one) => one.wroteEvent('_Result.csv: ')));
      const emailsOf = (folder: string) =>
        readEmails(join(folder, 'outbox', 'new')).filter(({ about }) => about === reviewPath);
      const [email, ...others] = emailsOf(addresses.folder);
      expect(others).toEqual([]);
      expect(email?.references.length).toBeGreaterThan(50);
      expect(email?.references).toEqual(emailsOf(ours)[0]?.references);
    },
  );
});
