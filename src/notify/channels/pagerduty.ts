import { createHash } from 'node:crypto';
import { shorten } from '../../base/format.js';
import { endsIncident, type Message } from '../channel.js';
import { disarm } from './message-texts.js';

const summaryCharacters = 1_024;
const keyCharacters = 255;
/** An event may have 512 kB. */
const detailCharacters = 50_000;

/**
 * An event of the Events API v2: it triggers an incident, or resolves the one with the same key. PagerDuty makes links of addresses,
 * and passes its texts on to Slack, Teams and mail programs.
 */
export function renderPagerDutyEvent(message: Message, routingKey: string): object {
  const { event, severity, day, runId, title, text, url, counts, raisedAt } = message;
  const about = { routing_key: routingKey, dedup_key: toKey(message.incident) };
  if (endsIncident(message)) return { ...about, event_action: 'resolve' };
  return {
    ...about,
    event_action: 'trigger',
    client: 'hotel-review',
    ...(url !== undefined && { client_url: url, links: [{ href: url, text: 'Open' }] }),
    payload: {
      summary: shorten(disarm(title), summaryCharacters),
      source: 'hotel-review',
      severity,
      timestamp: new Date(raisedAt).toISOString(),
      class: event,
      ...(day !== undefined && { group: day }),
      custom_details: {
        text: shorten(disarm(text), detailCharacters),
        day: day ?? null,
        runId: runId ?? null,
        counts,
      },
    },
  };
}

function toKey(incident: string): string {
  return incident.length <= keyCharacters ? incident : createHash('sha256').update(incident).digest('hex');
}
