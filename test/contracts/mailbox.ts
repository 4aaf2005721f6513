import { describe, expect, it } from 'vitest';
import type { FoundMail, Mailbox } from '../../src/cases/mails/mailbox.js';

const dayMs = 86_400_000;

export interface OpenedMailbox {
  readonly mailbox: Mailbox;
  /** Stores an e-mail under a number, or replaces it. Without a text, the mailbox lists it and hands out nothing. */
  put(number: number, text: string | undefined): void;
  remove(number: number): void;
  /** Lets time pass. */
  pass(ms: number): void;
}

const never = new AbortController().signal;

/** What each e-mail says, or its fault. */
export async function readAll(mailbox: Mailbox, signal = never): Promise<string[]> {
  const texts: string[] = [];
  for await (const found of mailbox.readNew(signal)) texts.push(describeFound(found));
  return texts;
}

function describeFound({ fault, bytes }: FoundMail): string {
  return fault ?? String(bytes).trimEnd().split('\n').at(-1) ?? '';
}

const mail = (text: string) => `From: a@b.example\r\nSubject: x\r\n\r\n${text}\r\n`;

/** What every mailbox does. */
export function describeMailbox(name: string, open: () => Promise<OpenedMailbox>): void {
  describe(name, () => {
    it('gives each e-mail once, and again whatever was not taken', async () => {
      const { mailbox, put } = await open();
      expect(await readAll(mailbox)).toEqual([]);
      for (const number of [1, 2]) put(number, mail(`text ${number}`));
      expect(await mailbox.probe(never)).toEqual({ mails: 2 });
      for await (const _found of mailbox.readNew(never)) break;
      expect(await readAll(mailbox)).toEqual(['text 1', 'text 2']);
      put(3, mail('text 3'));
      expect(await readAll(mailbox)).toEqual(['text 3']);
      expect(await readAll(mailbox)).toEqual([]);
    });

    it('says for a day of an e-mail that it lists and does not hand out that this was not fetched', async () => {
      const { mailbox, put, pass } = await open();
      put(1, undefined);
      put(2, mail('text 2'));
      expect(await readAll(mailbox)).toEqual(['not-fetched', 'text 2']);
      put(3, mail('text 3'));
      pass(dayMs - 1);
      // The others do not wait for it.
      expect(await readAll(mailbox)).toEqual(['text 3', 'not-fetched']);
      pass(1);
      expect(await readAll(mailbox)).toEqual(['not-fetched']);
      expect(await readAll(mailbox)).toEqual([]);
    });

    it('gives such an e-mail once it hands it out, under the same key', async () => {
      const { mailbox, put } = await open();
      put(1, undefined);
      const keys: (string | undefined)[] = [];
      for await (const { key } of mailbox.readNew(never)) keys.push(key);
      put(1, mail('text 1'));
      for await (const { key } of mailbox.readNew(never)) keys.push(key);
      expect(keys).toEqual([expect.any(String), keys[0]]);
      expect(await readAll(mailbox)).toEqual([]);
    });

    it('passes over such an e-mail once it is gone', async () => {
      const { mailbox, put, remove } = await open();
      put(1, undefined);
      expect(await readAll(mailbox)).toEqual(['not-fetched']);
      remove(1);
      expect(await readAll(mailbox)).toEqual([]);
    });
  });
}
