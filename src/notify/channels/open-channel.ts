import type { Channel, ChannelParts, Message } from '../channel.js';
import type { ChannelSettings, SettingsOf } from './channel-settings.js';
import { withSafeTexts } from './message-texts.js';
import { renderPagerDutyEvent } from './pagerduty.js';
import { renderSlackMessage } from './slack.js';
import { findTeamsFault, renderTeamsMessage } from './teams.js';
import type { WebCall } from './web-channel.js';
import { renderWebhook } from './webhook.js';

/** Opens a channel, and loads only what its kind needs. It connects only when there is a message to send. */
export async function openChannel(settings: ChannelSettings, parts: ChannelParts): Promise<Channel> {
  const { name, send, close } = await openKind(settings, parts);
  return { name, send: (message, signal) => send(withSafeTexts(message), signal), close };
}

async function openKind(settings: ChannelSettings, parts: ChannelParts): Promise<Channel> {
  if (settings.kind === 'email') {
    const { createSmtpChannel } = await import('./smtp-channel.js');
    return createSmtpChannel(settings, parts);
  }
  const { createWebChannel } = await import('./web-channel.js');
  const findFault = settings.kind === 'teams' ? findTeamsFault : undefined;
  const render = (message: Message): WebCall =>
    settings.kind === 'webhook'
      ? renderWebhook(message, settings.secret, parts.clock())
      : { body: JSON.stringify(renderBody(message, settings)) };
  return createWebChannel({ ...settings, render, findFault }, parts);
}

function renderBody(message: Message, settings: SettingsOf<'slack' | 'teams' | 'pagerduty'>): object {
  switch (settings.kind) {
    case 'slack':
      return renderSlackMessage(message);
    case 'teams':
      return renderTeamsMessage(message);
    case 'pagerduty':
      return renderPagerDutyEvent(message, settings.routingKey);
  }
}
