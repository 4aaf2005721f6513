import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { writeSettings } from '../config/writing.js';
import { callCommand } from '../support/command.js';
import { type StandInAnswer, startStandIn } from '../support/http-stand-in.js';
import { startSmtpServer } from '../support/smtp-server.js';

const call = (notify: readonly object[], ...args: readonly string[]) =>
  callWith(notify, ['notify', 'test', ...args]);

async function callWith(notify: readonly object[], args: readonly string[]) {
  const cwd = await mkdtemp(join(tmpdir(), 'hotel-review-notify-'));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  const server = { publicUrl: 'https://review.example.com' };
  await writeFile(join(cwd, 'hotel-review.yaml'), writeSettings({ notify, server }));
  return callCommand(args, { cwd, env: {} });
}

async function receive(answer: StandInAnswer) {
  const receiver = await startStandIn(() => answer);
  onTestFinished(() => receiver.close());
  const read = () => receiver.requests.map(({ body }) => JSON.parse(String(body)));
  return { url: `http://127.0.0.1:${receiver.port}/hidden`, read, received: receiver.received };
}

const accepted: StandInAnswer = { kind: 'json', status: 202, body: {} };

describe('notify test', () => {
  it('sends a message through every channel, and says so', async () => {
    const [slack, pagerduty, mail] = [
      await receive(accepted),
      await receive(accepted),
      await startSmtpServer(),
    ];
    const { exitCode, stdout } = await (
      await call([
        { kind: 'slack', name: 'ops', url: slack.url },
        { kind: 'pagerduty', routingKey: 'hidden', url: pagerduty.url },
        {
          kind: 'email',
          smtp: `smtp://localhost:${mail.port}`,
          from: 'a@example.com',
          to: ['b@example.com'],
        },
      ])
    ).ended;
    expect(exitCode).toBe(0);
    expect(stdout.split('\n').sort()).toEqual([
      '',
      expect.stringMatching(/^email: accepted \(email, [\d.]+ s\)$/),
      expect.stringMatching(/^ops: accepted \(slack, [\d.]+ s\)$/),
      expect.stringMatching(/^pagerduty: triggered and resolved \(pagerduty, [\d.]+ s\)$/),
    ]);
    expect(slack.read()).toMatchObject([
      {
        text: expect.stringMatching(
          /^Test of hotel-review: this channel works\n.*\nhttps:\/\/review\.example\.com$/,
        ),
      },
    ]);
    const [trigger, resolve] = pagerduty.read();
    expect(trigger).toMatchObject({ event_action: 'trigger', payload: { severity: 'info' } });
    expect(resolve).toEqual({ routing_key: 'hidden', dedup_key: trigger.dedup_key, event_action: 'resolve' });
    expect(mail.emails).toHaveLength(1);
    expect(mail.emails[0]?.raw).toMatch(/^Subject: Test of hotel-review: this channel works\r$/m);
  });

  it('tries one channel by its name', async () => {
    const [first, second] = [await receive(accepted), await receive(accepted)];
    const notify = [
      { kind: 'slack', name: 'ops', url: first.url },
      { kind: 'slack', name: 'desk', url: second.url },
    ];
    expect((await (await call(notify, 'desk')).ended).exitCode).toBe(0);
    expect(first.read()).toHaveLength(0);
    expect(second.read()).toHaveLength(1);
  });

  it('fails if a receiver refuses, after trying all of them, and shows no secret', async () => {
    const good = await receive(accepted);
    const bad = await receive({ kind: 'text', status: 403, body: 'invalid_token hidden' });
    const { exitCode, stdout, stderr } = await (
      await call([
        { kind: 'slack', url: bad.url },
        { kind: 'teams', url: good.url },
      ])
    ).ended;
    expect(exitCode).toBe(1);
    expect(stdout).toContain(
      'slack: the receiver did not accept the message (http-403): are its address and its secret right?\n',
    );
    expect(stdout).toMatch(/^teams: accepted/m);
    expect(stdout + stderr).not.toContain('hidden');
  });

  it('prints one object with --json', async () => {
    const [good, bad] = [await receive(accepted), await receive({ kind: 'text', status: 500, body: '' })];
    const notify = [
      { kind: 'slack', url: bad.url },
      { kind: 'teams', url: good.url },
    ];
    const { exitCode, json } = await (await call(notify, '--json')).ended;
    expect(exitCode).toBe(1);
    expect(json).toEqual({
      ok: false,
      channels: [
        {
          name: 'slack',
          kind: 'slack',
          accepted: false,
          durationMs: expect.any(Number),
          code: 'http-500',
          message: 'slack: the receiver did not accept the message (http-500)',
        },
        {
          name: 'teams',
          kind: 'teams',
          accepted: true,
          durationMs: expect.any(Number),
          code: null,
          message: null,
        },
      ],
    });
  });

  it('lists the channels if the name is unknown, or says that there are none', async () => {
    const slack = { kind: 'slack', name: 'ops', url: 'https://hooks.example.com/hidden' };
    const unknown = await (await call([slack], 'opps')).ended;
    expect(unknown.exitCode).toBe(2);
    expect(unknown.stderr).toContain('unknown channel opps; configured are: ops');
    const none = await (await call([])).ended;
    expect(none.exitCode).toBe(2);
    expect(none.stderr).toContain('no channel is configured; list them in the setting notify');
  });

  it('stops on request, although a receiver never answers', async () => {
    const silent = await receive({ kind: 'hang' });
    const command = await call([
      { kind: 'slack', url: silent.url },
      { kind: 'teams', url: silent.url },
    ]);
    await silent.received(2);
    command.stop();
    expect((await command.ended).exitCode).toBe(1);
  });
});
