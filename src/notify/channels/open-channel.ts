import type { Channel, ChannelParts } from '../channel.js';
import type { ChannelSettings, SettingsOf } from './channel-settings.js';
import { withSafeTexts } from './message-texts.js';
import { renderPagerDutyEvent } from './pagerduty.js';
import { renderSlackMessage } from './slack.js';
import { findTeamsFault, renderTeamsMessage } from './teams.js';
import type { RenderCall } from './web-channel.js';
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
  return createWebChannel({ ...settings, render: chooseRenderer(settings, parts), findFault }, parts);
}

type WebSettings = Exclude<ChannelSettings, SettingsOf<'email'>>;

function chooseRenderer(settings: WebSettings, { clock }: ChannelParts): RenderCall {
  switch (settings.kind) {
    case 'slack':
      return (message) => ({ body: JSON.stringify(renderSlackMessage(message)) });
    case 'teams':
      return (message) => ({ body: JSON.stringify(renderTeamsMessage(message)) });
    case 'webhook':
      return (message) => renderWebhook(message, settings.secret, clock());
    case 'pagerduty':
      return (message) => ({ body: JSON.stringify(renderPagerDutyEvent(message, settings.routingKey)) });
  }
}
