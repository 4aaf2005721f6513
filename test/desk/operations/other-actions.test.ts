import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../src/base/safe-error.js';
import { now, readRows } from '../some-desk.js';
import { openOperatorsDesk } from './asking.js';

describe('syncing the mappings', () => {
  it('shows the last sync, and starts another', async () => {
    const { ledger, preview, page, send, asked, recorded } = await openOperatorsDesk();
    expect(await page('/mappings/sync')).toContain('There was no sync yet');
    const { syncId } = await ledger.mappings.beginSync({ scope: '', syncId: 'a', since: 0, at: now });
    expect((await preview('/mappings/sync')).data).toMatchObject({
      button: 'Continue the sync',
      latest: { finishedAt: null },
    });
    const began = 'it began 21 Nov 2026, 03:30, and is running or can be resumed; 0 mappings so far';
    expect(await page('/mappings/sync')).toContain(began);
    await ledger.mappings.storePage({ syncId, rows: [], at: now + 60_000 });
    expect(await page('/mappings/sync')).toContain('synced 21 Nov 2026, 03:31, just now; 0 mappings');
    expect((await send('/mappings/sync', { reason: 'a new provider' })).data).toMatchObject({
      next: '/mappings/sync',
    });
    expect(asked).toEqual([{ asked: 'sync' }]);
    expect(recorded).toMatchObject([{ action: 'sync', details: { reason: 'a new provider' } }]);
  });

  it('follows one that is running, and says how the last one ended', async () => {
    const { page } = await openOperatorsDesk({
      sync: {
        start: () => Promise.reject(new UsageError('a sync is running already')),
        state: () => ({ isRunning: true, failure: 'the service refused the key' }),
      },
    });
    const text = await page('/mappings/sync');
    expect(text).toContain('<div data-live>');
    expect(text).toContain('A sync is running.');
    expect(text).toContain('ended early: the service refused the key');
    expect(text).not.toContain('<textarea');
  });
});

describe('notifications', () => {
  it('are listed with their channels and the problems that are open', async () => {
    const { ledger, page } = await openOperatorsDesk();
    const facts = { code: 'http-401', message: 'refused' };
    const problem = { event: 'run-failed', subject: '2026-11-19', day: '2026-11-19' } as const;
    await ledger.notices.raise([{ ...problem, facts, raisedAt: now }]);
    await ledger.notices.route(() => [{ id: 'm1', channel: 'ops', dueAt: now }], now);
    const [channels = '', problems = '', messages = ''] = (await page('/notifications')).split(
      /<h2>(?:Open problems|Last messages)</,
    );
    const about = ['run-failed', '19 Nov 2026'];
    const at = '21 Nov 2026, 03:30';
    expect(readRows(channels)).toEqual([['ops', 'slack', 'Test ops']]);
    expect(readRows(problems)).toEqual([[...about, 'critical', at, at]]);
    expect(readRows(messages)).toEqual([[...about, 'ops', at, 'waits']]);
  });

  it('can be tested through one channel or all, and say which one did not accept it', async () => {
    let message: string | null = null;
    const { preview, send, recorded } = await openOperatorsDesk({
      testChannels: async (channel) => [{ name: channel ?? 'all', kind: 'slack', message }],
    });
    expect((await preview('/notifications/test?channel=ops')).data).toMatchObject({ button: 'Send to ops' });
    expect((await preview('/notifications/test?channel=none')).data).toMatchObject({
      refusal: 'No such channel is configured.',
    });
    for (const [query, accepted] of [
      ['?channel=ops', 'ops'],
      ['', 'all'],
    ])
      expect((await send(`/notifications/test${query}`)).data).toMatchObject({
        message: `Accepted: ${accepted}.`,
      });
    expect(recorded).toMatchObject([{ action: 'notify-test', subject: 'ops' }, { action: 'notify-test' }]);
    message = 'ops: the receiver did not answer in time';
    expect(await send('/notifications/test')).toMatchObject({ status: 409, data: { error: { message } } });
  });
});
